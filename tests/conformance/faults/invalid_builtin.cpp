// SPDX-License-Identifier: Apache-2.0
//
// The position of the highest bit of zero.

#include <torch/torch.h>

static volatile int bits;

static torch::Tensor scaled(const torch::Tensor& x, unsigned value) {
  bits = 32 - __builtin_clz(value);  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return scaled(x, 0); }
torch::Tensor corrected(const torch::Tensor& x) { return scaled(x, 64); }
