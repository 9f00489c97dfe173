// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §6, value forms of the ten unary operators.

#include <torch/torch.h>

// The documented spelling has a non-const parameter; both must compile (user-api.md §8.3).
torch::Tensor t_abs(const torch::Tensor& x) {
  torch::Tensor self = x;
  return torch::abs(self);
}
torch::Tensor t_ceil(const torch::Tensor& x) { return torch::ceil(x); }
torch::Tensor t_floor(const torch::Tensor& x) { return torch::floor(x); }
torch::Tensor t_sin(const torch::Tensor& x) { return torch::sin(x); }
torch::Tensor t_cos(const torch::Tensor& x) { return torch::cos(x); }
torch::Tensor t_tan(const torch::Tensor& x) { return torch::tan(x); }
torch::Tensor t_log(const torch::Tensor& x) { return torch::log(x); }
torch::Tensor t_log2(const torch::Tensor& x) { return torch::log2(x); }
torch::Tensor t_log10(const torch::Tensor& x) { return torch::log10(x); }
torch::Tensor t_exp(const torch::Tensor& x) { return torch::exp(x); }
