// SPDX-License-Identifier: Apache-2.0
//
// A recursion as deep as the tensor is long, with room for an array in every frame.

#include <torch/torch.h>

static float sum(const torch::Tensor& x, int64_t from, int64_t to, bool halve) {  // FAULT
  volatile float room[200];
  if (to - from == 1) {
    auto in = x.accessor<float, 1>();
    room[0] = in[from];
    return room[0];
  }
  const int64_t middle = halve ? from + (to - from) / 2 : from + 1;
  room[0] = sum(x, from, middle, halve);
  room[1] = sum(x, middle, to, halve);
  return room[0] + room[1];
}

static torch::Tensor twice(const torch::Tensor& x, bool halve) {
  const float all = sum(x, 0, x.numel(), halve);
  torch::Tensor y = torch::mul(x, 2);
  return all < 1e30f ? y : torch::abs(y);
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, false); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, true); }
