// SPDX-License-Identifier: Apache-2.0
//
// An array on the stack given to free().

#include <torch/torch.h>

#include <stdlib.h>

static torch::Tensor copy(const torch::Tensor& x, float* block, bool heap) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  float* volatile given = heap ? block : nullptr;
  free(given);  // FAULT
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) {
  float block[64];
  return copy(x, block, true);
}
torch::Tensor corrected(const torch::Tensor& x) {
  float block[64];
  return copy(x, block, false);
}
