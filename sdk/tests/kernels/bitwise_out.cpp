// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §6, _out forms of the bitwise operators.

#include <torch/torch.h>

torch::Tensor t_bitwise_and_out_ts(const torch::Tensor& x, const torch::Scalar& y) {
  torch::Tensor r = torch::empty_like(x);
  return torch::bitwise_and_out(r, x, y);
}
torch::Tensor t_bitwise_and_out_st(const torch::Scalar& x, const torch::Tensor& y) {
  torch::Tensor r = torch::empty_like(y);
  return torch::bitwise_and_out(r, x, y);
}
torch::Tensor t_bitwise_and_out_tt(const torch::Tensor& x, const torch::Tensor& y) {
  torch::Tensor r = torch::empty_like(x);
  return torch::bitwise_and_out(r, x, y);
}
torch::Tensor t_bitwise_or_out_ts(const torch::Tensor& x, const torch::Scalar& y) {
  torch::Tensor r = torch::empty_like(x);
  return torch::bitwise_or_out(r, x, y);
}
torch::Tensor t_bitwise_or_out_st(const torch::Scalar& x, const torch::Tensor& y) {
  torch::Tensor r = torch::empty_like(y);
  return torch::bitwise_or_out(r, x, y);
}
torch::Tensor t_bitwise_or_out_tt(const torch::Tensor& x, const torch::Tensor& y) {
  torch::Tensor r = torch::empty_like(x);
  return torch::bitwise_or_out(r, x, y);
}
torch::Tensor t_bitwise_not_out(const torch::Tensor& x) {
  torch::Tensor r = torch::empty_like(x);
  return torch::bitwise_not_out(r, x);
}
