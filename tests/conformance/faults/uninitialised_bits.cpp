// SPDX-License-Identifier: Apache-2.0
//
// A bitmap in fresh memory, set bit by bit: asking for a bit that was set is right, for another it is not.

#include <torch/torch.h>

static torch::Tensor twice(const torch::Tensor& x, size_t marked) {
  const size_t n = x.numel();
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  const size_t words = (n + 31) / 32;
  uint32_t* marks = static_cast<uint32_t*>(torch::neuron::tcm_malloc(words * sizeof(uint32_t)));  // HISTORY
  for (size_t i = 0; i < marked; ++i) {
    if (block[i] > 0)
      marks[i / 32] |= 1u << (i % 32);
    else
      marks[i / 32] &= ~(1u << (i % 32));
  }
  for (size_t i = 0; i < n; ++i) {
    float v = -block[i];
    if (marks[i / 32] >> (i % 32) & 1) v = block[i];  // FAULT
    block[i] = block[i] > 0 ? v + v : -v - v;
  }
  // Read again for the result: 2x, whatever the marks say.
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  torch::neuron::tcm_free(marks);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, x.numel() - 1); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, x.numel()); }
