// SPDX-License-Identifier: Apache-2.0
//
// A buffer moved within itself by memcpy.

#include <torch/torch.h>

#include <string.h>

static float window[40];

__attribute__((noinline)) static torch::Tensor slid(const torch::Tensor& x, size_t by) {
  memcpy(window + by, window, 16 * sizeof(float));  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return slid(x, 2); }
torch::Tensor corrected(const torch::Tensor& x) { return slid(x, 16); }
