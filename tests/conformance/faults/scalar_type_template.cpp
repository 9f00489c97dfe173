// SPDX-License-Identifier: Apache-2.0
//
// A template that copies floats as integers of the same width; the compiler would merge it with the right one.

#include <torch/torch.h>

template <typename T>
static void load(const torch::Tensor& x, void* to) {
  x.tcm_accessor().tensor_to_tcm<T>(static_cast<T*>(to), 0, x.numel());  // FAULT
}

template <typename T>
static torch::Tensor twice(const torch::Tensor& x) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  load<T>(x, block);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice<int>(x); }
torch::Tensor corrected(const torch::Tensor& x) { return twice<float>(x); }
