// SPDX-License-Identifier: Apache-2.0
//
// A read stream whose tensor is written by DMA after the stream has filled its buffer.

#include <torch/torch.h>

static torch::Tensor scale(const torch::Tensor& x, bool is_late) {
  const size_t n = x.numel();
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  float* block = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));
  x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  auto sent = y.read_stream_accessor<float>();
  const float first = sent.read();
  if (is_late) y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  const float second = sent.read();  // FAULT
  block[0] = first;
  block[1] = second;
  sent.close();
  for (size_t i = 0; i < n; ++i) block[i] += block[i];
  y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return scale(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return scale(x, false); }
