// SPDX-License-Identifier: Apache-2.0
//
// The distance between two arrays.

#include <torch/torch.h>

static int first[4], second[4];
static volatile long distance;

static torch::Tensor measured(const torch::Tensor& x, int* from) {
  int* to = second + 2;
  asm("" : "+r"(to));
  distance = to - from;  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return measured(x, first); }
torch::Tensor corrected(const torch::Tensor& x) { return measured(x, second); }
