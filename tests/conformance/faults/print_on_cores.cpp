// SPDX-License-Identifier: Apache-2.0
//
// Every core prints, of which the device delivers core 0's text only.

#include <torch/torch.h>

#include <neuron/neuron-utils.hpp>

static torch::Tensor share(const torch::Tensor& x, bool all) {
  torch::Tensor y = get_dst_tensor();
  const size_t n = x.numel() / get_cpu_count(), first = get_cpu_id() * n;
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, first, n);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, first, n);
  torch::neuron::tcm_free(block);
  if (all || get_cpu_id() == 0) printf("from %u\n", static_cast<unsigned>(first));
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return share(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return share(x, false); }
