// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §6, every overload of add and sub, with alpha given and left out.

#include <torch/torch.h>

torch::Tensor t_add_ts(const torch::Tensor& x, const torch::Scalar& y, const torch::Scalar& alpha) {
  return torch::add(x, y, alpha);
}
torch::Tensor t_add_tt(const torch::Tensor& x, const torch::Tensor& y, const torch::Scalar& alpha) {
  return torch::add(x, y, alpha);
}
torch::Tensor t_add_out_ts(const torch::Tensor& x, const torch::Scalar& y, const torch::Scalar& alpha) {
  torch::Tensor r = torch::empty_like(x);
  return torch::add_out(r, x, y, alpha);
}
torch::Tensor t_add_out_tt(const torch::Tensor& x, const torch::Tensor& y, const torch::Scalar& alpha) {
  torch::Tensor r = get_dst_tensor();
  return torch::add_out(r, x, y, alpha);
}
torch::Tensor t_add_default(const torch::Tensor& x, const torch::Tensor& y) { return torch::add(x, y); }
torch::Tensor t_sub_ts(const torch::Tensor& x, const torch::Scalar& y, const torch::Scalar& alpha) {
  return torch::sub(x, y, alpha);
}
torch::Tensor t_sub_tt(const torch::Tensor& x, const torch::Tensor& y, const torch::Scalar& alpha) {
  return torch::sub(x, y, alpha);
}
torch::Tensor t_sub_out_ts(const torch::Tensor& x, const torch::Scalar& y, const torch::Scalar& alpha) {
  torch::Tensor r = torch::empty_like(x);
  return torch::sub_out(r, x, y, alpha);
}
torch::Tensor t_sub_out_tt(const torch::Tensor& x, const torch::Tensor& y, const torch::Scalar& alpha) {
  torch::Tensor r = get_dst_tensor();
  return torch::sub_out(r, x, y, alpha);
}
torch::Tensor t_sub_default(const torch::Tensor& x, const torch::Tensor& y) { return torch::sub(x, y); }
