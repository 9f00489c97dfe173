// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §6, _out forms of the ten unary operators, straight into the operator's output.

#include <torch/torch.h>

torch::Tensor t_abs_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::abs_out(r, x);
  assert(&same == &r);
  return same;
}
torch::Tensor t_ceil_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::ceil_out(r, x);
  assert(&same == &r);
  return same;
}
torch::Tensor t_floor_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::floor_out(r, x);
  assert(&same == &r);
  return same;
}
torch::Tensor t_sin_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::sin_out(r, x);
  assert(&same == &r);
  return same;
}
torch::Tensor t_cos_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::cos_out(r, x);
  assert(&same == &r);
  return same;
}
torch::Tensor t_tan_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::tan_out(r, x);
  assert(&same == &r);
  return same;
}
torch::Tensor t_log_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::log_out(r, x);
  assert(&same == &r);
  return same;
}
torch::Tensor t_log2_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::log2_out(r, x);
  assert(&same == &r);
  return same;
}
torch::Tensor t_log10_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::log10_out(r, x);
  assert(&same == &r);
  return same;
}
torch::Tensor t_exp_out(const torch::Tensor& x) {
  torch::Tensor r = get_dst_tensor();
  torch::Tensor& same = torch::exp_out(r, x);
  assert(&same == &r);
  return same;
}
