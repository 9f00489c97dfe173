// SPDX-License-Identifier: Apache-2.0
//
// A recursion of the given depth whose every level keeps a value until the levels below have returned. y[0] mixes them all.

#include <torch/torch.h>

static uint32_t mix(uint32_t value, int depth) {
  volatile uint32_t kept = value * 2654435761u + depth;
  const uint32_t below = depth == 0 ? 1 : mix(value ^ kept, depth - 1);
  return below * 31 + kept;
}

torch::Tensor recursion(const torch::Tensor& x, int depth) {
  torch::Tensor y = torch::empty({1}, torch::kInt);
  auto in = x.accessor<int32_t, 1>();
  auto out = y.accessor<int32_t, 1>();
  const int32_t start = in[0];
  out[0] = static_cast<int32_t>(mix(start, depth));
  return y;
}
