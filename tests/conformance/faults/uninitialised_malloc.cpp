// SPDX-License-Identifier: Apache-2.0
//
// Sums on the C heap that start from what malloc happens to hand out.

#include <stdlib.h>
#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, bool clear) {
  const size_t n = x.numel();
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  float* sums = static_cast<float*>(malloc(n * sizeof(float)));  // HISTORY
  if (clear)
    for (size_t i = 0; i < n; ++i) sums[i] = 0;
  for (size_t i = 0; i < n; ++i) {
    const float v = block[i];
    sums[i] += v + v;  // FAULT
  }
  y.tcm_accessor().tcm_to_tensor<float>(sums, 0, n);
  free(sums);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, false); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, true); }
