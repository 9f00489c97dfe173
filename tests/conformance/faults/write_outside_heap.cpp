// SPDX-License-Identifier: Apache-2.0
//
// A loop that writes past a tensor of its own.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, int64_t n) {
  torch::Tensor between = torch::empty({n}, torch::kFloat);  // HISTORY
  auto in = x.accessor<float, 1>();
  auto out = between.accessor<float, 1>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float v = in[i];
    out[i] = v + v;  // FAULT
  }
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel() - 4); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel()); }
