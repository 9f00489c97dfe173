// SPDX-License-Identifier: Apache-2.0
//
// An element accessor that reads one element more than the input has.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, int64_t n) {
  torch::Tensor y = get_dst_tensor();
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < n; ++i) {
    const float v = in[i];  // FAULT
    out[i % x.numel()] = v + v;
  }
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel() + 1); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel()); }
