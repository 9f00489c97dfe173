// SPDX-License-Identifier: Apache-2.0
// Eight cores with nothing but arithmetic to do: how far they spread over the machine's processors.
#include <torch/torch.h>
#include <neuron/neuron-utils.hpp>
torch::Tensor busy(const torch::Tensor& t) {
  torch::Tensor out = get_dst_tensor();
  if (get_cpu_id() == 0) {
    float* p = (float*)torch::neuron::tcm_malloc(64);
    t.tcm_accessor().tensor_to_tcm<float>(p, 0, 16);
    out.tcm_accessor().tcm_to_tensor<float>(p, 0, 16);
    torch::neuron::tcm_free(p);
  }
  volatile unsigned x = 1;
  for (unsigned i = 0; i < 10000000; ++i) x = x * 1664525u + i;
  return out;
}
