// SPDX-License-Identifier: Apache-2.0
//
// One more element is read from a stream that is closed.

#include <torch/torch.h>

static torch::Tensor scale(const torch::Tensor& x, bool is_late) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.read_stream_accessor<float>();
  auto out = y.write_stream_accessor<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out.write(2 * in.read());
  in.close();
  out.close();
  if (is_late) out.write(1.0f);  // FAULT
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return scale(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return scale(x, false); }
