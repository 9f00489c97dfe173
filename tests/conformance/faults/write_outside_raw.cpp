// SPDX-License-Identifier: Apache-2.0
//
// A translated pointer that is moved past the end of the output.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, int64_t n) {
  torch::Tensor y = get_dst_tensor();
  auto in = x.accessor<float, 1>();
  volatile float* out = &y.q7_data_ptr().operator[]<float>(0);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float v = in[i];
    out = &y.q7_data_ptr().operator[]<float>(0);
    out[i] = v + v;
  }
  if (n > x.numel()) out[n] = 0;  // FAULT
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel() + 5); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel()); }
