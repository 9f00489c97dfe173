// SPDX-License-Identifier: Apache-2.0
//
// Conformance: the two 16-bit float types in kernels: conversion of every encoding, arithmetic with one rounding, limits.

#include <torch/torch.h>

#include <limits>

template <typename From, typename To>
static torch::Tensor convert(const torch::Tensor& x, torch::ScalarType type) {
  torch::Tensor y = torch::empty_like(x, type);
  auto in = x.read_stream_accessor<From>();
  auto out = y.write_stream_accessor<To>();
  for (int64_t i = 0; i < x.numel(); ++i) out.write(static_cast<To>(in.read()));
  out.close();
  return y;
}

torch::Tensor t_half_to_float(const torch::Tensor& x) { return convert<at::Half, float>(x, torch::kFloat); }
torch::Tensor t_float_to_half(const torch::Tensor& x) { return convert<float, at::Half>(x, torch::kHalf); }
torch::Tensor t_bfloat16_to_float(const torch::Tensor& x) { return convert<at::BFloat16, float>(x, torch::kFloat); }
torch::Tensor t_float_to_bfloat16(const torch::Tensor& x) { return convert<float, at::BFloat16>(x, torch::kBFloat16); }

// [a + b, a - b, a * b, a / b] per element pair
template <typename T>
static torch::Tensor four(const torch::Tensor& a, const torch::Tensor& b) {
  torch::Tensor y = torch::empty({a.size(0), 4}, a.dtype());
  auto x = a.accessor<T, 1>();
  auto z = b.accessor<T, 1>();
  auto out = y.accessor<T, 2>();
  for (int64_t i = 0; i < a.size(0); ++i) {
    out[i][0] = x[i] + z[i];
    out[i][1] = x[i] - z[i];
    out[i][2] = x[i] * z[i];
    out[i][3] = x[i] / z[i];
  }
  return y;
}
torch::Tensor t_half_arithmetic(const torch::Tensor& a, const torch::Tensor& b) { return four<at::Half>(a, b); }
torch::Tensor t_bfloat16_arithmetic(const torch::Tensor& a, const torch::Tensor& b) { return four<at::BFloat16>(a, b); }

// [max, lowest, min, epsilon, denorm_min, infinity, quiet_NaN] as encodings
template <typename T>
static torch::Tensor limits_of() {
  typedef std::numeric_limits<T> L;
  const T values[] = {L::max(), L::lowest(), L::min(), L::epsilon(), L::denorm_min(), L::infinity(), L::quiet_NaN()};
  torch::Tensor y = torch::empty({7}, torch::kInt);
  auto out = y.accessor<int32_t, 1>();
  for (int i = 0; i < 7; ++i) out[i] = values[i].x;
  return y;
}
torch::Tensor t_half_limits(const torch::Tensor&) { return limits_of<at::Half>(); }
torch::Tensor t_bfloat16_limits(const torch::Tensor&) { return limits_of<at::BFloat16>(); }
