// SPDX-License-Identifier: Apache-2.0
//
// A variable-length array without elements.

#include <torch/torch.h>

static volatile int sum;

static torch::Tensor gathered(const torch::Tensor& x, int count) {
  int values[count];  // FAULT
  for (int i = 0; i < count; ++i) values[i] = i;
  asm volatile("" : : "r"(values) : "memory");
  sum = count;
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return gathered(x, 0); }
torch::Tensor corrected(const torch::Tensor& x) { return gathered(x, 4); }
