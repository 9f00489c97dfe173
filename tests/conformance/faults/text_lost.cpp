// SPDX-License-Identifier: Apache-2.0
//
// More lines than the device's buffer holds.

#include <torch/torch.h>

#include <stdio.h>

static torch::Tensor talk(const torch::Tensor& x, int lines) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = 2 * in[i];
  for (int i = 0; i < lines; ++i) puts("a line of text that says nothing at all, at some length, again and again and again");
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return talk(x, 1700); }
torch::Tensor corrected(const torch::Tensor& x) { return talk(x, 2); }
