// SPDX-License-Identifier: Apache-2.0
//
// A pointer to a variable of a block that was left.

#include <torch/torch.h>

static volatile float last;

static torch::Tensor remembered(const torch::Tensor& x, bool is_late) {
  const float* kept = nullptr;
  for (int round = 0; round < 2; ++round) {
    float values[4] = {1.0f * round, 2, 3, 4};
    kept = values;
    asm("" : "+r"(kept) : : "memory");
    if (!is_late) last = kept[2];
  }
  if (is_late)
    last = kept[2];  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return remembered(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return remembered(x, false); }
