// SPDX-License-Identifier: Apache-2.0
//
// Core 0 of eight reads one element by itself before all copy their blocks.

#include <torch/torch.h>

#include <neuron/neuron-utils.hpp>

static torch::Tensor share(const torch::Tensor& x, bool look) {
  torch::Tensor y = get_dst_tensor();
  if (look && get_cpu_id() == 0) {
    auto in = x.accessor<float, 1>();
    volatile float first = in[0];  // FAULT
    (void)first;
  }
  const size_t n = x.numel() / get_cpu_count(), first = get_cpu_id() * n;
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, first, n);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, first, n);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return share(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return share(x, false); }
