// SPDX-License-Identifier: Apache-2.0
//
// The last element of a local array is never computed; a copy of the array is written out.

#include <string.h>
#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, size_t n) {
  torch::Tensor y = get_dst_tensor();
  float in[64], out[64], copy[64];
  x.tcm_accessor().tensor_to_tcm<float>(in, 0, x.numel());
  for (size_t i = 0; i < n; ++i) out[i] = in[i] + in[i];
  float* from = out;
  asm("" : "+r"(from) : : "memory");
  memcpy(copy, from, sizeof(copy));
  y.tcm_accessor().tcm_to_tensor<float>(copy, 0, x.numel());  // FAULT
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel() - 1); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel()); }
