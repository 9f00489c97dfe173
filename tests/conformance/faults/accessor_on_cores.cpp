// SPDX-License-Identifier: Apache-2.0
//
// Eight cores that read their elements one by one instead of as a block.

#include <torch/torch.h>

#include <neuron/neuron-utils.hpp>

torch::Tensor faulty(const torch::Tensor& x) {
  torch::Tensor y = get_dst_tensor();
  const size_t n = x.numel() / get_cpu_count(), first = get_cpu_id() * n;
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  auto in = x.accessor<float, 1>();
  for (size_t i = 0; i < n; ++i) block[i] = 2 * in[first + i];  // FAULT
  y.tcm_accessor().tcm_to_tensor<float>(block, first, n);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor corrected(const torch::Tensor& x) {
  torch::Tensor y = get_dst_tensor();
  const size_t n = x.numel() / get_cpu_count(), first = get_cpu_id() * n;
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, first, n);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, first, n);
  torch::neuron::tcm_free(block);
  return y;
}
