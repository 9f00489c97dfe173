// SPDX-License-Identifier: Apache-2.0
//
// The whole block is copied out, but its last element was never computed.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, size_t n) {
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(x.numel() * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, x.numel());  // FAULT
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel() - 1); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel()); }
