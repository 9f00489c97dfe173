// SPDX-License-Identifier: Apache-2.0
//
// Eight cores, each of which waits for nothing and yet reads what its neighbour writes.

#include <torch/torch.h>

#include <neuron/neuron-utils.hpp>

static torch::Tensor share(const torch::Tensor& x, bool neighbour) {
  torch::Tensor y = get_dst_tensor();
  const size_t n = x.numel() / get_cpu_count(), first = get_cpu_id() * n;
  float* block = static_cast<float*>(torch::neuron::tcm_malloc((n + 1) * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, first, n);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, first, n);
  if (neighbour && first != 0) {
    y.tcm_accessor().tensor_to_tcm<float>(block + n, first - 1, 1);  // FAULT
    volatile float sink = block[n] + 1.0f;
    (void)sink;
  }
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return share(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return share(x, false); }
