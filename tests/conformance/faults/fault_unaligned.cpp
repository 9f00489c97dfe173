// SPDX-License-Identifier: Apache-2.0
//
// A float read through a pointer to bytes that is no multiple of four.

#include <torch/torch.h>

#include <string.h>

static torch::Tensor shifted(const torch::Tensor& x, size_t by) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  char* bytes = static_cast<char*>(torch::neuron::tcm_malloc(n * sizeof(float) + 4));
  memset(bytes, 0, n * sizeof(float) + 4);
  x.tcm_accessor().tensor_to_tcm<float>(reinterpret_cast<float*>(bytes), 0, n);
  auto out = y.accessor<float, 1>();
  for (size_t i = 0; i < n; ++i) {
    const float v = *reinterpret_cast<const volatile float*>(bytes + i * sizeof(float) + by);  // FAULT
    out[i] = v + v;
  }
  torch::neuron::tcm_free(bytes);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return shifted(x, 1); }
torch::Tensor corrected(const torch::Tensor& x) { return shifted(x, 0); }
