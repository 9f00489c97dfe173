// SPDX-License-Identifier: Apache-2.0
//
// A block that is never given back.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, bool give_back) {
  const size_t n = x.numel();
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));  // FAULT
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  if (give_back) torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, false); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, true); }
