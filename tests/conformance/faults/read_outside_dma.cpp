// SPDX-License-Identifier: Apache-2.0
//
// A transfer that is longer than what is left of the input.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, size_t n, size_t room) {
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(room * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);  // FAULT
  for (int64_t i = 0; i < x.numel(); ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, x.numel());
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel() + 1, x.numel() + 1); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel(), x.numel() + 1); }
