// SPDX-License-Identifier: Apache-2.0
//
// A table with fewer entries than the loop has steps; the compiler knows its length.

#include <torch/torch.h>

static volatile int sink;

__attribute__((noinline)) static torch::Tensor weighted(const torch::Tensor& x, int steps) {
  static const int weights[4] = {1, 2, 3, 4};
  int sum = 0;
  for (int i = 0; i < steps; ++i)
    sum += weights[i];  // FAULT
  sink = sum;
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return weighted(x, 5); }
torch::Tensor corrected(const torch::Tensor& x) { return weighted(x, 4); }
