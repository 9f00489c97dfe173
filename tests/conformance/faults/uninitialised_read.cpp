// SPDX-License-Identifier: Apache-2.0
//
// A sum that starts from what the block happens to hold.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, bool clear) {
  const size_t n = x.numel();
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  auto in = x.accessor<float, 1>();
  if (clear)
    for (size_t i = 0; i < n; ++i) block[i] = 0;
  for (size_t i = 0; i < n; ++i) {
    const float v = in[i];
    block[i] += v + v;  // FAULT
  }
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, false); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, true); }
