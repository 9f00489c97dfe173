// SPDX-License-Identifier: Apache-2.0
//
// A pointer to a local array of a function that has returned.

#include <torch/torch.h>

static float kept[8];

__attribute__((noinline)) static const float* fill(bool mine) {
  float local[8];
  float* p = mine ? local : kept;
  asm("" : "+r"(p) : : "memory");
  for (int i = 0; i < 8; ++i) p[i] = i;
  asm("" : "+r"(p) : : "memory");
  return p;
}

static torch::Tensor twice(const torch::Tensor& x, bool mine) {
  const size_t n = x.numel();
  torch::Tensor y = get_dst_tensor();
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  const float* table = fill(mine);
  if (table[3] > 1000) block[0] = 0;  // FAULT
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return twice(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return twice(x, false); }
