// SPDX-License-Identifier: Apache-2.0
//
// A transfer that is longer than what is left of the output.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, size_t n, size_t room) {
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(room * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, x.numel());
  for (size_t i = 0; i < room; ++i) block[i] = i < static_cast<size_t>(x.numel()) ? block[i] + block[i] : 0;
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);  // FAULT
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel() + 1, x.numel() + 1); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel(), x.numel() + 1); }
