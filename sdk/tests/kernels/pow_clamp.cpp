// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §6, every overload of pow and clamp.

#include <torch/torch.h>

torch::Tensor t_pow_ts(const torch::Tensor& x, const torch::Scalar& e) { return torch::pow(x, e); }
torch::Tensor t_pow_st(const torch::Scalar& x, const torch::Tensor& e) { return torch::pow(x, e); }
torch::Tensor t_pow_tt(const torch::Tensor& x, const torch::Tensor& e) { return torch::pow(x, e); }

torch::Tensor t_pow_out_ts(const torch::Tensor& x, const torch::Scalar& e) {
  torch::Tensor r = torch::empty_like(x);
  return torch::pow_out(r, x, e);
}
torch::Tensor t_pow_out_st(const torch::Scalar& x, const torch::Tensor& e) {
  torch::Tensor r = torch::empty_like(e);
  return torch::pow_out(r, x, e);
}
torch::Tensor t_pow_out_tt(const torch::Tensor& x, const torch::Tensor& e) {
  torch::Tensor r = torch::empty_like(x);
  return torch::pow_out(r, x, e);
}

torch::Tensor t_clamp(const torch::Tensor& x, const torch::Scalar& lo, const torch::Scalar& hi) {
  return torch::clamp(x, lo, hi);
}
torch::Tensor t_clamp_out(const torch::Tensor& x, const torch::Scalar& lo, const torch::Scalar& hi) {
  torch::Tensor r = get_dst_tensor();
  return torch::clamp_out(r, x, lo, hi);
}
