// SPDX-License-Identifier: Apache-2.0
//
// A tensor that takes nearly all of the core's device memory.

#include <torch/torch.h>

static torch::Tensor scale(const torch::Tensor& x, int64_t spare) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  torch::Tensor room = torch::empty({spare}, torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = 2 * in[i];
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return scale(x, 0x7FFE00); }
torch::Tensor corrected(const torch::Tensor& x) { return scale(x, 0x1000); }
