// SPDX-License-Identifier: Apache-2.0
//
// A transfer into a TCM block that is too small for it.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, size_t room) {
  const size_t n = x.numel();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(room * sizeof(float)));  // HISTORY
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);  // FAULT
  torch::neuron::tcm_free(block);
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel() - 2); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel()); }
