// SPDX-License-Identifier: Apache-2.0
//
// A loop that writes past its TCM block.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, size_t n, size_t room) {
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(room * sizeof(float)));  // HISTORY
  auto in = x.accessor<float, 1>();
  for (size_t i = 0; i < n; ++i) {
    const float v = in[i];
    block[i] = v + v;  // FAULT
  }
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n - 1);
  const float last = in[n - 1];
  auto out = y.accessor<float, 1>();
  out[n - 1] = last + last;
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel(), x.numel() - 1); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel(), x.numel()); }
