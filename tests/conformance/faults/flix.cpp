// SPDX-License-Identifier: Apache-2.0
//
// The first bytes of a vector bundle, as only the vendor's compiler makes them.

#include <torch/torch.h>

torch::Tensor faulty(const torch::Tensor& x) {
  asm volatile(".byte 0x0f, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x0f, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70");  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor corrected(const torch::Tensor& x) {
  asm volatile("nop");
  return torch::mul(x, 2);
}
