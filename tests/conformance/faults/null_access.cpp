// SPDX-License-Identifier: Apache-2.0
//
// More TCM than there is, and nobody looks whether it was given.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, size_t bytes) {
  volatile float* block = static_cast<float*>(torch::neuron::tcm_malloc(bytes));
  torch::Tensor y = torch::mul(x, 2);
  block[3] = 1;  // FAULT
  torch::neuron::tcm_free(const_cast<float*>(block));
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, 32 << 10); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, 1 << 10); }
