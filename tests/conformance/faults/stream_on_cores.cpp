// SPDX-License-Identifier: Apache-2.0
//
// Eight cores that read their elements from a stream.

#include <torch/torch.h>

#include <neuron/neuron-utils.hpp>

torch::Tensor faulty(const torch::Tensor& x) {
  torch::Tensor y = get_dst_tensor();
  const size_t n = x.numel() / get_cpu_count(), first = get_cpu_id() * n;
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  auto in = x.read_stream_accessor<float>();  // FAULT
  for (size_t i = 0; i < first + n; ++i) {
    const float v = in.read();
    if (i >= first) block[i - first] = v + v;
  }
  in.close();
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
