// SPDX-License-Identifier: Apache-2.0
//
// A small object used through a pointer to a larger type.

#include <torch/torch.h>

struct Pair { int first, second; };
static volatile int sum;

// the compiler sees it too
#pragma GCC diagnostic ignored "-Warray-bounds"
static torch::Tensor summed(const torch::Tensor& x, bool is_pair) {
  if (is_pair) {
    Pair pair = {1, 2};
    asm volatile("" : : "r"(&pair) : "memory");
    sum = pair.second;
  } else {
    int one = 1;
    asm volatile("" : : "r"(&one) : "memory");
    sum = reinterpret_cast<Pair*>(&one)->second;  // FAULT
  }
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return summed(x, false); }
torch::Tensor corrected(const torch::Tensor& x) { return summed(x, true); }
