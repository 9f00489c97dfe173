// SPDX-License-Identifier: Apache-2.0
//
// An element accessor beside a stream that still holds elements back; closing the stream first makes it right.

#include <torch/torch.h>

torch::Tensor faulty(const torch::Tensor& x) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto stream = y.write_stream_accessor<float>();
  for (int64_t i = 0; i < x.numel(); ++i) stream.write(in[i]);
  auto out = y.accessor<float, 1>();  // FAULT
  for (int64_t i = 0; i < x.numel(); ++i) out[i] += in[i];
  return y;
}

torch::Tensor corrected(const torch::Tensor& x) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto stream = y.write_stream_accessor<float>();
  for (int64_t i = 0; i < x.numel(); ++i) stream.write(in[i]);
  stream.close();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] += in[i];
  return y;
}
