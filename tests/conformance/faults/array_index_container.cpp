// SPDX-License-Identifier: Apache-2.0
//
// An index beyond a vector's elements.

#include <torch/torch.h>
#include <vector>

static torch::Tensor scaled(const torch::Tensor& x, size_t at) {
  std::vector<float> factors(8, 2.0f);
  const float factor = factors[at];  // FAULT
  return torch::mul(x, factor);
}

torch::Tensor faulty(const torch::Tensor& x) { return scaled(x, 8); }
torch::Tensor corrected(const torch::Tensor& x) { return scaled(x, 7); }
