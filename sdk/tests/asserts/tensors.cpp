// SPDX-License-Identifier: Apache-2.0
//
// Kernels that break a rule of tensors, accessors and streams; each must stop with the text in ../asserts.json.

#include <torch/torch.h>

// 64 MiB from a heap of 32.
torch::Tensor a_hbm_exhausted(const torch::Tensor&) { return torch::empty({1 << 24}, torch::kFloat); }

torch::Tensor a_result_dtype(const torch::Tensor& x) { return torch::zeros(x.sizes(), torch::kInt); }

// All of TCM still held when the result is to be copied.
torch::Tensor a_tcm_kept(const torch::Tensor& x) {
  void* block = torch::neuron::tcm_malloc(16384);
  assert(block != nullptr);
  return x;
}

torch::Tensor a_accessor_rank(const torch::Tensor& x) {
  torch::Tensor y = torch::zeros(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 2>();
  auto out = y.accessor<float, 1>();
  out[0] = in[0][0];
  return y;
}

torch::Tensor a_reader_beside_accessor(const torch::Tensor& x) {
  auto elements = x.accessor<float, 1>();
  auto reader = x.read_stream_accessor<float>();
  (void)elements, (void)reader;
  return x;
}

torch::Tensor a_two_writers(const torch::Tensor& x) {
  torch::Tensor y = torch::zeros(x.sizes(), torch::kFloat);
  auto first = y.write_stream_accessor<float>();
  auto second = y.write_stream_accessor<float>();
  (void)first, (void)second;
  return y;
}

torch::Tensor a_accessor_beside_writer(const torch::Tensor& x) {
  torch::Tensor y = torch::zeros(x.sizes(), torch::kFloat);
  auto writer = y.write_stream_accessor<float>();
  auto elements = y.accessor<float, 1>();
  (void)writer, (void)elements;
  return y;
}

// Allowed, but said aloud: the output is x, and standard output has the warning.
torch::Tensor a_verbose(const torch::Tensor& x) {
  x.set_accessor_coherence_policy(torch::CoherencyEnforcer::INCOHERENT_VERBOSE);
  torch::Tensor y = torch::empty_like(x);
  auto elements = x.accessor<float, 1>();
  auto reader = x.read_stream_accessor<float>();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < x.size(0); ++i) out[i] = reader.read();
  return y;
}

torch::Tensor a_failed_assert(const torch::Tensor& x) {
  assert(x.numel() < 0 && "said by the kernel");
  return x;
}

torch::Tensor a_abort(const torch::Tensor&) { abort(); }
