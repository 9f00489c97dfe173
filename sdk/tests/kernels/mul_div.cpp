// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §6, every overload of mul and div; the result may be an operand.

#include <torch/torch.h>

torch::Tensor t_mul_ts(const torch::Tensor& x, const torch::Scalar& y) { return torch::mul(x, y); }
torch::Tensor t_mul_tt(const torch::Tensor& x, const torch::Tensor& y) { return torch::mul(x, y); }
torch::Tensor t_mul_out_ts(const torch::Tensor& x, const torch::Scalar& y) {
  torch::Tensor r = torch::empty_like(x);
  return torch::mul_out(r, x, y);
}
torch::Tensor t_mul_out_tt(const torch::Tensor& x, const torch::Tensor& y) {
  torch::Tensor r = torch::mul(x, 1);
  return torch::mul_out(r, r, y);
}
torch::Tensor t_div_ts(const torch::Tensor& x, const torch::Scalar& y) { return torch::div(x, y); }
torch::Tensor t_div_tt(const torch::Tensor& x, const torch::Tensor& y) { return torch::div(x, y); }
torch::Tensor t_div_out_ts(const torch::Tensor& x, const torch::Scalar& y) {
  torch::Tensor r = torch::empty_like(x);
  return torch::div_out(r, x, y);
}
torch::Tensor t_div_out_tt(const torch::Tensor& x, const torch::Tensor& y) {
  torch::Tensor r = torch::mul(x, 1);
  return torch::div_out(r, r, y);
}
