// SPDX-License-Identifier: Apache-2.0
//
// A call through a function pointer that was never set.

#include <torch/torch.h>

typedef float (*Function)(float);
static float twice(float v) { return v + v; }
static volatile Function functions[2] = {twice, reinterpret_cast<Function>(0x70000000)};

static torch::Tensor apply(const torch::Tensor& x, int which) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float v = in[i];
    const float f = functions[which](v);  // FAULT
    out[i] = f;
  }
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return apply(x, 1); }
torch::Tensor corrected(const torch::Tensor& x) { return apply(x, 0); }
