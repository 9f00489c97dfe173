// SPDX-License-Identifier: Apache-2.0
//
// An address in the aperture of a window that was never pointed anywhere.

#include <torch/torch.h>

#include <neuron/custom_op.h>

static volatile float* volatile places[2] = {reinterpret_cast<volatile float*>(0x0a000000), nullptr};

static torch::Tensor add(const torch::Tensor& x, volatile float* place) {
  const float v = *place;  // FAULT
  torch::Tensor y = torch::mul(x, 2);
  return v < 1e30f ? y : torch::abs(y);
}

torch::Tensor faulty(const torch::Tensor& x) { return add(x, places[0]); }
torch::Tensor corrected(const torch::Tensor& x) {
  return add(x, static_cast<volatile float*>(neuron_translate(neuron_translate_ctx(), x.q7_data_ptr().hbm_addr)));
}
