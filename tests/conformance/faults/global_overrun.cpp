// SPDX-License-Identifier: Apache-2.0
//
// One entry too many in a global that the compiler cannot follow.

#include <torch/torch.h>

static float squares[10];

static torch::Tensor tabled(const torch::Tensor& x, int count) {
  float* to = squares;
  asm("" : "+r"(to));
  for (int i = 0; i < count; ++i)
    to[i] = static_cast<float>(i * i);  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return tabled(x, 11); }
torch::Tensor corrected(const torch::Tensor& x) { return tabled(x, 10); }
