// SPDX-License-Identifier: Apache-2.0
//
// A flag read from a byte that is neither true nor false.

#include <torch/torch.h>

static unsigned char raw[1];
static volatile int chosen;

static torch::Tensor flagged(const torch::Tensor& x, unsigned char value) {
  raw[0] = value;
  const bool* flag = reinterpret_cast<const bool*>(raw);
  asm("" : "+r"(flag) : : "memory");
  chosen = *flag;  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return flagged(x, 7); }
torch::Tensor corrected(const torch::Tensor& x) { return flagged(x, 1); }
