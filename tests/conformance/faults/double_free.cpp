// SPDX-License-Identifier: Apache-2.0
//
// A block given back by the loop's end and again after it; the block allocated in between has its place by then.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, bool again) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  float* first = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(first, 0, n);
  for (size_t i = 0; i < n; ++i) first[i] += first[i];
  y.tcm_accessor().tcm_to_tensor<float>(first, 0, n);
  torch::neuron::tcm_free(first);  // HISTORY
  float* second = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  second[0] = 1.0f;
  if (again) {
    torch::neuron::tcm_free(first);  // FAULT
  }
  torch::neuron::tcm_free(second);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, false); }
