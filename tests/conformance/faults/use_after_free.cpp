// SPDX-License-Identifier: Apache-2.0
//
// A block that is read after it was given back.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, bool early) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto out = y.accessor<float, 1>();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  if (early) torch::neuron::tcm_free(block);  // HISTORY
  for (size_t i = 0; i < n; ++i) out[i] = block[i] + block[i];  // FAULT
  if (!early) torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, false); }
