// SPDX-License-Identifier: Apache-2.0
//
// A case that was declared impossible.

#include <torch/torch.h>

static volatile int which;

static torch::Tensor chosen(const torch::Tensor& x, int kind) {
  switch (kind) {
    case 2: which = 2; break;
    default: __builtin_unreachable();  // FAULT
  }
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return chosen(x, 3); }
torch::Tensor corrected(const torch::Tensor& x) { return chosen(x, 2); }
