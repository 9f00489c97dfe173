// SPDX-License-Identifier: Apache-2.0
//
// The doorbell of a DMA queue is rung for more descriptors than the ring holds.

#include <torch/torch.h>

static volatile unsigned int* const doorbell = reinterpret_cast<volatile unsigned int*>(0x04000000 + 0x1000 + 0x38);

static torch::Tensor ring(const torch::Tensor& x, unsigned int times) {
  torch::Tensor y = get_dst_tensor();
  torch::mul_out(y, x, 2);
  if (times != 0) *doorbell = times;  // FAULT
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return ring(x, 100); }
torch::Tensor corrected(const torch::Tensor& x) { return ring(x, 0); }
