// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §5 and §5.1: element accessors of every documented rank and of rank 8, shape queries, handles.

#include <torch/torch.h>

#include <utility>

// y[i] = x[n - 1 - i]
torch::Tensor t_accessor1(const torch::Tensor& x) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < x.size(0); ++i) out[i] = in[x.size(0) - 1 - i];
  return y;
}

// y = x transposed
torch::Tensor t_accessor2(const torch::Tensor& x) {
  torch::Tensor y = torch::empty({x.size(1), x.size(0)}, torch::kFloat);
  auto in = x.accessor<float, 2>();
  auto out = y.accessor<float, 2>();
  for (int64_t i = 0; i < x.size(0); ++i)
    for (int64_t j = 0; j < x.size(1); ++j) out[j][i] = in[i][j];
  return y;
}

torch::Tensor t_accessor3(const torch::Tensor& x) {
  torch::Tensor y = torch::empty({x.size(2), x.size(1), x.size(0)}, torch::kFloat);
  auto in = x.accessor<float, 3>();
  auto out = y.accessor<float, 3>();
  for (int64_t i = 0; i < x.size(0); ++i)
    for (int64_t j = 0; j < x.size(1); ++j)
      for (int64_t k = 0; k < x.size(2); ++k) out[k][j][i] = in[i][j][k];
  return y;
}

// y = x with its dimensions in reverse order
torch::Tensor t_accessor4(const torch::Tensor& x) {
  torch::Tensor y = torch::empty({x.size(3), x.size(2), x.size(1), x.size(0)}, torch::kFloat);
  auto in = x.accessor<float, 4>();
  auto out = y.accessor<float, 4>();
  for (int64_t i = 0; i < x.size(0); ++i)
    for (int64_t j = 0; j < x.size(1); ++j)
      for (int64_t k = 0; k < x.size(2); ++k)
        for (int64_t l = 0; l < x.size(3); ++l) out[l][k][j][i] = in[i][j][k][l];
  return y;
}

// The element at the last index of a rank-8 tensor, and at the first.
torch::Tensor t_accessor8(const torch::Tensor& x) {
  torch::Tensor y = torch::empty({2}, torch::kFloat);
  auto in = x.accessor<float, 8>();
  auto out = y.accessor<float, 1>();
  out[0] = in[0][0][0][0][0][0][0][0];
  out[1] = in[x.size(0) - 1][x.size(1) - 1][x.size(2) - 1][x.size(3) - 1][x.size(4) - 1][x.size(5) - 1][x.size(6) - 1]
             [x.size(7) - 1];
  return y;
}

// The same for ranks 5, 6 and 7.
torch::Tensor t_accessor567(const torch::Tensor& x) {
  torch::Tensor y = torch::empty({2}, torch::kFloat);
  auto out = y.accessor<float, 1>();
  const auto last = [&x](int64_t d) { return x.size(d) - 1; };
  if (x.dim() == 5) {
    auto in = x.accessor<float, 5>();
    out[0] = in[0][0][0][0][0];
    out[1] = in[last(0)][last(1)][last(2)][last(3)][last(4)];
  } else if (x.dim() == 6) {
    auto in = x.accessor<float, 6>();
    out[0] = in[0][0][0][0][0][0];
    out[1] = in[last(0)][last(1)][last(2)][last(3)][last(4)][last(5)];
  } else {
    auto in = x.accessor<float, 7>();
    out[0] = in[0][0][0][0][0][0][0];
    out[1] = in[last(0)][last(1)][last(2)][last(3)][last(4)][last(5)][last(6)];
  }
  return y;
}

// y[i] = x[i] + x[0] in every integer width: sign and zero extension, wrap-around on the way back.
template <typename T>
static torch::Tensor plus_first(const torch::Tensor& x) {
  torch::Tensor y = torch::empty_like(x);
  auto in = x.accessor<T, 1>();
  auto out = y.accessor<T, 1>();
  for (int64_t i = 0; i < x.size(0); ++i) {
    out[i] = in[i];
    out[i] += in[0];
  }
  return y;
}
torch::Tensor t_accessor_int(const torch::Tensor& x) {
  if (x.scalar_type() == torch::kChar) return plus_first<int8_t>(x);
  if (x.scalar_type() == torch::kByte) return plus_first<uint8_t>(x);
  if (x.scalar_type() == torch::kShort) return plus_first<int16_t>(x);
  return plus_first<int32_t>(x);
}

// [dim, numel, size(0), ..., size(7)], zero where there is no such dimension.
torch::Tensor t_shape_of(const torch::Tensor& x) {
  torch::Tensor r = torch::zeros({10}, torch::kInt);
  auto out = r.accessor<int32_t, 1>();
  out[0] = static_cast<int>(x.dim());
  out[1] = static_cast<int>(x.numel());
  for (int64_t d = 0; d < x.dim(); ++d) {
    assert(x.size(d) == x.sizes()[static_cast<size_t>(d)]);
    assert(x.size(d - x.dim()) == x.size(d));
    out[2 + d] = static_cast<int>(x.size(d));
  }
  return r;
}

// Copies share storage, moves hand it over: 11, 12, 13 arrive only if they do.
torch::Tensor t_assignment(const torch::Tensor& x) {
  torch::Tensor a = torch::zeros(x.sizes(), torch::kFloat);
  torch::Tensor b = torch::zeros(x.sizes(), torch::kFloat);
  b = a;
  b.fill_(11);
  torch::Tensor c = torch::zeros({1}, torch::kFloat);
  c = std::move(b);
  auto out = c.accessor<float, 1>();
  out[1] = 12.0f;
  torch::Tensor d(c);
  auto again = d.accessor<float, 1>();
  again[2] = 13.0f;
  return a;
}

// [default, after INCOHERENT_QUIET, a reader beside a writer under it]
torch::Tensor t_coherence(const torch::Tensor& x) {
  torch::Tensor y = torch::zeros({3}, torch::kFloat);
  const int before = x.get_accessor_coherence_policy();
  x.set_accessor_coherence_policy(torch::CoherencyEnforcer::INCOHERENT_QUIET);
  const int after = x.get_accessor_coherence_policy();
  float first;
  {
    auto reader = x.read_stream_accessor<float>();
    auto elements = x.accessor<float, 1>();
    first = reader.read() + elements[0];
    reader.close();
  }
  auto out = y.accessor<float, 1>();
  out[0] = static_cast<float>(before);
  out[1] = static_cast<float>(after);
  out[2] = first;
  return y;
}
