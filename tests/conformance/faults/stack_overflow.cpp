// SPDX-License-Identifier: Apache-2.0
//
// A copy of the tensor on the stack, which holds 8 KiB, instead of in TCM.

#include <torch/torch.h>

static void double_all(volatile float* block, const torch::Tensor& x, torch::Tensor& y) {
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < x.numel(); ++i) block[i] = in[i];
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = block[i] + block[i];
}

torch::Tensor faulty(const torch::Tensor& x) {  // FAULT
  volatile float block[4096];
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  double_all(block, x, y);
  return y;
}

torch::Tensor corrected(const torch::Tensor& x) {
  volatile float* block = static_cast<float*>(torch::neuron::tcm_malloc(2048 * sizeof(float)));
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  double_all(block, x, y);
  torch::neuron::tcm_free(const_cast<float*>(block));
  return y;
}
