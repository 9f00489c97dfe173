// SPDX-License-Identifier: Apache-2.0
//
// A tensor made by empty() is read before anything was written to it.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, torch::Tensor sum) {
  auto in = x.accessor<float, 1>();
  auto out = sum.accessor<float, 1>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float v = in[i];
    out[i] += v + v;  // FAULT
  }
  return sum;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, torch::empty(x.sizes(), torch::kFloat)); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, torch::zeros(x.sizes(), torch::kFloat)); }
