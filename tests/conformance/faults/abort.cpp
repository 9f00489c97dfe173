// SPDX-License-Identifier: Apache-2.0
//
// A condition on the shape that does not hold.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, int64_t remainder) {
  assert(x.numel() % 8 == remainder);  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, 1); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, 0); }
