// SPDX-License-Identifier: Apache-2.0
//
// An object that nobody deletes.

#include <torch/torch.h>

struct Gain {
  float factor;
};

static torch::Tensor scale(const torch::Tensor& x, bool last) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  Gain* gain = new Gain{2};  // FAULT
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] * gain->factor;
  if (last) delete gain;
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return scale(x, false); }
torch::Tensor corrected(const torch::Tensor& x) { return scale(x, true); }
