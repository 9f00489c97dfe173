// SPDX-License-Identifier: Apache-2.0
//
// Eight cores, each of which writes one element of the next.

#include <torch/torch.h>

#include <neuron/neuron-utils.hpp>

#include <algorithm>

static torch::Tensor share(const torch::Tensor& x, size_t extra) {
  torch::Tensor y = get_dst_tensor();
  const size_t n = x.numel() / get_cpu_count(), first = get_cpu_id() * n;
  float* block = static_cast<float*>(torch::neuron::tcm_malloc((n + extra) * sizeof(float)));
  const size_t count = std::min(n + extra, static_cast<size_t>(x.numel()) - first);
  x.tcm_accessor().tensor_to_tcm<float>(block, first, count);
  for (size_t i = 0; i < count; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, first, count);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return share(x, 1); }
torch::Tensor corrected(const torch::Tensor& x) { return share(x, 0); }
