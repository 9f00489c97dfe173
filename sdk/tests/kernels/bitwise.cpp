// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §6, value forms of the bitwise operators, and both readings of bitwise_not (§8.2).

#include <torch/torch.h>

torch::Tensor t_bitwise_and_ts(const torch::Tensor& x, const torch::Scalar& y) { return torch::bitwise_and(x, y); }
torch::Tensor t_bitwise_and_st(const torch::Scalar& x, const torch::Tensor& y) { return torch::bitwise_and(x, y); }
torch::Tensor t_bitwise_and_tt(const torch::Tensor& x, const torch::Tensor& y) { return torch::bitwise_and(x, y); }
torch::Tensor t_bitwise_or_ts(const torch::Tensor& x, const torch::Scalar& y) { return torch::bitwise_or(x, y); }
torch::Tensor t_bitwise_or_st(const torch::Scalar& x, const torch::Tensor& y) { return torch::bitwise_or(x, y); }
torch::Tensor t_bitwise_or_tt(const torch::Tensor& x, const torch::Tensor& y) { return torch::bitwise_or(x, y); }
torch::Tensor t_bitwise_not(const torch::Tensor& x) { return torch::bitwise_not(x); }
torch::Tensor t_bitwise_not_two(const torch::Tensor& x) {
  torch::Tensor r = torch::empty_like(x);
  return torch::bitwise_not(r, x);
}
