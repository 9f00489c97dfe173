// SPDX-License-Identifier: Apache-2.0
//
// An array from new[] that goes back through delete.

#include <torch/torch.h>

__attribute__((noinline)) static void give_back(float* block) { delete block; }

static torch::Tensor copy(const torch::Tensor& x, bool array) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  float* block = new float[n];  // HISTORY
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  if (array) {
    delete[] block;
  } else {
    give_back(block);
  }
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return copy(x, false); }
torch::Tensor corrected(const torch::Tensor& x) { return copy(x, true); }
