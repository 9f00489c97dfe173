// SPDX-License-Identifier: Apache-2.0
//
// Memory that a vector has in reserve, behind its last element.

#include <torch/torch.h>
#include <vector>

static torch::Tensor scaled(const torch::Tensor& x, size_t at) {
  std::vector<float> factors;
  factors.reserve(16);
  for (int i = 0; i < 8; ++i) factors.push_back(i);
  float* raw = factors.data();
  asm("" : "+r"(raw));
  raw[at] = 2;  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return scaled(x, 8); }
torch::Tensor corrected(const torch::Tensor& x) { return scaled(x, 7); }
