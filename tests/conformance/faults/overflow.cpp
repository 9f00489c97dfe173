// SPDX-License-Identifier: Apache-2.0
//
// A product of two counts that does not fit an int.

#include <torch/torch.h>

static volatile int total;

static torch::Tensor counted(const torch::Tensor& x, int count) {
  total = count * 100000;  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return counted(x, 30000); }
torch::Tensor corrected(const torch::Tensor& x) { return counted(x, 20000); }
