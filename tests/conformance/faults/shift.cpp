// SPDX-License-Identifier: Apache-2.0
//
// A mask as wide as an int.

#include <torch/torch.h>

static volatile int mask;

static torch::Tensor masked(const torch::Tensor& x, int bits) {
  mask = (1 << bits) - 1;  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return masked(x, 40); }
torch::Tensor corrected(const torch::Tensor& x) { return masked(x, 20); }
