// SPDX-License-Identifier: Apache-2.0
//
// Kernels that break a rule of the operators (ATen/ops.h); each must stop with the text in ../asserts.json.

#include <torch/torch.h>

torch::Tensor a_shapes(const torch::Tensor& x, const torch::Tensor& y) { return torch::add(x, y); }
torch::Tensor a_dtypes(const torch::Tensor& x, const torch::Tensor& y) { return torch::mul(x, y); }
torch::Tensor a_result_shape(const torch::Tensor& x) {
  torch::Tensor r = torch::empty({x.numel() + 1}, torch::kFloat);
  return torch::abs_out(r, x);
}
torch::Tensor a_integral_sine(const torch::Tensor& x) { return torch::sin(x); }
torch::Tensor a_floating_bitwise(const torch::Tensor& x) { return torch::bitwise_and(x, 1.5); }
torch::Tensor a_promotion(const torch::Tensor& x) { return torch::add(x, 1.5); }
torch::Tensor a_zero_division(const torch::Tensor& x, const torch::Tensor& y) { return torch::div(x, y); }
torch::Tensor a_negative_power(const torch::Tensor& x) { return torch::pow(x, -1); }
torch::Tensor a_no_dtype(const torch::Tensor& x) { return torch::empty(x.sizes(), torch::TensorOptions()); }
torch::Tensor a_scalar_overflow(const torch::Tensor& x) { return torch::full(x.sizes(), 128, torch::kChar); }
