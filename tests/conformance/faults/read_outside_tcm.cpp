// SPDX-License-Identifier: Apache-2.0
//
// A loop that reads before its TCM block.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, int from) {
  const int n = static_cast<int>(x.numel());
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));  // HISTORY
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  auto out = y.accessor<float, 1>();
  float before = 0;
  for (int i = from; i < n; ++i) {
    const float v = block[i];  // FAULT
    if (i >= 0) out[i] = v + v;
    else before = v;
  }
  if (before > 1e30f) out[0] = before;
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, -1); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, 0); }
