// SPDX-License-Identifier: Apache-2.0
//
// Words read from the middle of bytes.

#include <torch/torch.h>

alignas(4) static char bytes[16];
static volatile int word;

static torch::Tensor parsed(const torch::Tensor& x, int at) {
  // the cast is the fault; a copy of the bytes would not be
  const int* from = reinterpret_cast<const int*>(bytes + at);
  if (at % 4 == 0) word = *from;
  const int& same = *from;  // FAULT
  asm volatile("" : : "r"(&same));
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return parsed(x, 2); }
torch::Tensor corrected(const torch::Tensor& x) { return parsed(x, 4); }
