// SPDX-License-Identifier: Apache-2.0
//
// A field of a local struct is counted up, but never set.

#include <torch/torch.h>

struct Sums {
  float total;
  int positive;
};

static torch::Tensor twice(const torch::Tensor& x, bool clear) {
  const size_t n = x.numel();
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  Sums sums;
  Sums* kept = &sums;
  asm("" : "+r"(kept) : : "memory");
  kept->total = 0;
  if (clear) kept->positive = 0;
  for (size_t i = 0; i < n; ++i) {
    kept->positive += block[i] > 0;
    block[i] += block[i];
  }
  if (kept->positive > 1000) block[0] = 0;  // FAULT
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, false); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, true); }
