// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §5.2: stream accessors over every element type, closing, and more streams than TCM holds.

#include <torch/torch.h>

#include <utility>

template <typename T>
static torch::Tensor copy_stream(const torch::Tensor& x) {
  torch::Tensor y = torch::empty_like(x);
  auto in = x.read_stream_accessor<T>();
  auto out = y.write_stream_accessor<T>();
  for (int64_t i = 0; i < x.numel(); ++i) out.write(in.read());
  out.close();
  out.close();
  in.close();
  return y;
}

torch::Tensor t_stream_copy(const torch::Tensor& x) {
  if (x.itemsize() == 1) return copy_stream<uint8_t>(x);
  if (x.scalar_type() == torch::kHalf) return copy_stream<at::Half>(x);
  if (x.scalar_type() == torch::kBFloat16) return copy_stream<at::BFloat16>(x);
  if (x.itemsize() == 2) return copy_stream<int16_t>(x);
  if (x.scalar_type() == torch::kInt) return copy_stream<int32_t>(x);
  return copy_stream<float>(x);
}

// Leaving the scope closes, and closing flushes (user-api.md §5.2).
torch::Tensor t_stream_scope(const torch::Tensor& x) {
  torch::Tensor y = torch::empty_like(x);
  {
    auto in = x.read_stream_accessor<float>();
    auto out = y.write_stream_accessor<float>();
    for (int64_t i = 0; i < x.numel(); ++i) out.write(in.read() + 1.0f);
  }
  return y;
}

// Four streams fill the pool; the fifth and sixth must be right all the same, one element at a time.
torch::Tensor t_stream_six(const torch::Tensor& x) {
  torch::Tensor y = torch::empty_like(x);
  auto a = x.read_stream_accessor<float>();
  auto b = x.read_stream_accessor<float>();
  auto c = x.read_stream_accessor<float>();
  auto d = x.read_stream_accessor<float>();
  auto e = x.read_stream_accessor<float>();
  auto out = y.write_stream_accessor<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out.write(a.read() + b.read() + c.read() + d.read() + e.read());
  out.close();
  return y;
}

// A moved stream goes on where it was.
torch::Tensor t_stream_move(const torch::Tensor& x) {
  torch::Tensor y = torch::empty_like(x);
  auto first = x.read_stream_accessor<float>();
  auto out = y.write_stream_accessor<float>();
  const int64_t half = x.numel() / 2;
  for (int64_t i = 0; i < half; ++i) out.write(first.read());
  auto second = std::move(first);
  for (int64_t i = half; i < x.numel(); ++i) out.write(second.read());
  out.close();
  return y;
}
