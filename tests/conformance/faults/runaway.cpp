// SPDX-License-Identifier: Apache-2.0
//
// A loop whose counter nobody moves.

#include <torch/torch.h>

static torch::Tensor wait(const torch::Tensor& x, int step) {
  volatile int rounds = 0;
  while (rounds < 100) rounds = rounds + step;  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return wait(x, 0); }
torch::Tensor corrected(const torch::Tensor& x) { return wait(x, 1); }
