// SPDX-License-Identifier: Apache-2.0
//
// Conformance: customop-abi.md §4, §7.2: every kind of argument, in an order in which a wrong pull order shows.

#include <torch/torch.h>

// [a, b, c, d, x[0], y[0]]
torch::Tensor t_arguments(int a, const torch::Tensor& x, float b, const torch::Scalar& c, const torch::Tensor& y, long long d) {
  torch::Tensor r = torch::empty({6}, torch::kFloat);
  auto out = r.accessor<float, 1>();
  auto first = x.accessor<float, 1>();
  auto second = y.accessor<float, 1>();
  out[0] = static_cast<float>(a);
  out[1] = b;
  out[2] = c.to<float>();
  out[3] = static_cast<float>(d);
  out[4] = first[0];
  out[5] = second[0];
  return r;
}

// [is floating, is integral, value as int, value as float's bits]
torch::Tensor t_scalar(const torch::Scalar& s) {
  torch::Tensor r = torch::empty({4}, torch::kInt);
  auto out = r.accessor<int32_t, 1>();
  const float value = s.toFloat();
  int32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  out[0] = s.isFloatingPoint();
  out[1] = s.isIntegral(false);
  out[2] = s.to<int>();
  out[3] = bits;
  return r;
}

torch::Tensor t_int(int a, int b) {
  torch::Tensor r = torch::empty({2}, torch::kInt);
  auto out = r.accessor<int32_t, 1>();
  out[0] = a;
  out[1] = b;
  return r;
}

// Nine inputs, the most there are beside the output: x[0] of each.
torch::Tensor t_nine(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& c, const torch::Tensor& d,
                     const torch::Tensor& e, const torch::Tensor& f, const torch::Tensor& g, const torch::Tensor& h,
                     const torch::Tensor& i) {
  const torch::Tensor* all[] = {&a, &b, &c, &d, &e, &f, &g, &h, &i};
  torch::Tensor r = torch::empty({9}, torch::kFloat);
  auto out = r.accessor<float, 1>();
  for (int k = 0; k < 9; ++k) {
    auto x = all[k]->accessor<float, 1>();
    out[k] = x[0];
  }
  return r;
}

// 64-bit elements may arrive and leave (customop-abi.md §6), though no kernel can ask for them by name: y[i] = x[i] + x[0].
torch::Tensor t_long(const torch::Tensor& x) {
  torch::Tensor y = torch::empty_like(x);
  auto in = x.accessor<int64_t, 1>();
  auto out = y.accessor<int64_t, 1>();
  for (int64_t i = 0; i < x.size(0); ++i) out[i] = in[i] + in[0];
  return y;
}

torch::Tensor t_long_fill(const torch::Tensor& x, const torch::Scalar& value) { return torch::full(x.sizes(), value, x.dtype()); }
