// SPDX-License-Identifier: Apache-2.0
//
// A copy of the handle is no copy of the tensor: its elements are the input's.

#include <torch/torch.h>

torch::Tensor faulty(const torch::Tensor& x) {
  torch::Tensor y = x;
  auto out = y.accessor<float, 1>();
  for (int64_t i = 5; i < x.numel(); ++i) {
    const float v = out[i];
    out[i] = v + v;  // FAULT
  }
  return y;
}

torch::Tensor corrected(const torch::Tensor& x) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float v = in[i];
    out[i] = v + v;
  }
  return y;
}
