// SPDX-License-Identifier: Apache-2.0
//
// A float converted to an index without a clamp.

#include <torch/torch.h>

static volatile int index;

static torch::Tensor quantized(const torch::Tensor& x, float value) {
  index = static_cast<int>(value);  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return quantized(x, 3e9f); }
torch::Tensor corrected(const torch::Tensor& x) { return quantized(x, 2e9f); }
