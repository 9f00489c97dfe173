// SPDX-License-Identifier: Apache-2.0
//
// Two write streams of one tensor, each through a handle of its own, so that the runtime does not see the other.

#include <torch/torch.h>

static torch::Tensor scale(const torch::Tensor& x, bool twice) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  torch::Tensor same = y;
  auto in = x.read_stream_accessor<float>();
  auto out = y.write_stream_accessor<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out.write(2 * in.read());
  if (twice) {
    auto other = same.write_stream_accessor<float>();  // FAULT
    other.write(1.0f);
    other.close();
  }
  out.close();
  in.close();
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return scale(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return scale(x, false); }
