// SPDX-License-Identifier: Apache-2.0
//
// An offset that leads around the address space.

#include <torch/torch.h>

static char base[16];
static const char* volatile found;

static torch::Tensor sought(const torch::Tensor& x, unsigned offset) {
  const char* from = base;
  asm("" : "+r"(from));
  found = from + offset;  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return sought(x, 0x7FFFFFF0u); }
torch::Tensor corrected(const torch::Tensor& x) { return sought(x, 8); }
