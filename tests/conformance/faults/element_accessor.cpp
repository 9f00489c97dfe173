// SPDX-License-Identifier: Apache-2.0
//
// Hundreds of passes over the elements of a tensor in device memory instead of one block in TCM.

#include <torch/torch.h>

torch::Tensor faulty(const torch::Tensor& x) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int pass = 0; pass < 300; ++pass) {
    for (int64_t i = 0; i < x.numel(); ++i) {
      const float v = in[i];
      out[i] = v + v;  // FAULT
    }
  }
  return y;
}

torch::Tensor corrected(const torch::Tensor& x) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(2 * n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  for (int pass = 0; pass < 300; ++pass)
    for (size_t i = 0; i < n; ++i) block[n + i] = block[i] + block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block + n, 0, n);
  torch::neuron::tcm_free(block);
  return y;
}
