// SPDX-License-Identifier: Apache-2.0
//
// A function with a path that returns nothing.

#include <torch/torch.h>

#pragma GCC diagnostic ignored "-Wreturn-type"

static volatile int which;

__attribute__((noinline)) static int factor(int kind) {  // FAULT
  if (kind == 2) return 2;
}

static torch::Tensor chosen(const torch::Tensor& x, int kind) {
  which = factor(kind);
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return chosen(x, 3); }
torch::Tensor corrected(const torch::Tensor& x) { return chosen(x, 2); }
