// SPDX-License-Identifier: Apache-2.0
//
// A copy to TCM that takes floats for integers of the same width.

#include <torch/torch.h>

torch::Tensor faulty(const torch::Tensor& x) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  int* block = static_cast<int*>(torch::neuron::tcm_malloc(n * sizeof(int)));
  x.tcm_accessor().tensor_to_tcm<int>(block, 0, n);  // FAULT
  float* floats = reinterpret_cast<float*>(block);
  for (size_t i = 0; i < n; ++i) floats[i] += floats[i];
  y.tcm_accessor().tcm_to_tensor<float>(floats, 0, n);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor corrected(const torch::Tensor& x) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  for (size_t i = n; i-- > 0;) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  torch::neuron::tcm_free(block);
  return y;
}
