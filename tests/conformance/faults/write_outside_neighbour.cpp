// SPDX-License-Identifier: Apache-2.0
//
// One element too many, into the block that follows on the device.

#include <torch/torch.h>

static torch::Tensor two(const torch::Tensor& x, size_t extra) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));  // HISTORY
  float* other = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(other, 0, n);
  for (size_t i = 0; i < n + extra; ++i) block[i] = 2 * other[i % n];  // FAULT
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  torch::neuron::tcm_free(other);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return two(x, 1); }
torch::Tensor corrected(const torch::Tensor& x) { return two(x, 0); }
