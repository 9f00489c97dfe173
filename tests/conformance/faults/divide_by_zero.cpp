// SPDX-License-Identifier: Apache-2.0
//
// A share per group, where the number of groups can be zero.

#include <torch/torch.h>

static volatile int groups[2] = {0, 4};

static torch::Tensor grouped(const torch::Tensor& x, int which) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  const int share = static_cast<int>(x.numel()) / groups[which];  // FAULT
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int first = 0; first < x.numel(); first += share)
    for (int i = first; i < first + share; ++i) out[i] = in[i] + in[i];
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return grouped(x, 0); }
torch::Tensor corrected(const torch::Tensor& x) { return grouped(x, 1); }
