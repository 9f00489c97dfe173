// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §7: who runs, the destination tensor, printf.

#include <torch/torch.h>

#include <neuron/neuron-utils.hpp>

// Each core writes 1000 * count + id to the element of its number.
torch::Tensor t_cpu(const torch::Tensor&) {
  torch::Tensor y = get_dst_tensor();
  int32_t mine = static_cast<int32_t>(get_cpu_count() * 1000 + get_cpu_id());
  auto out = y.tcm_accessor();
  out.tcm_to_tensor<int32_t>(&mine, get_cpu_id(), 1);
  return y;
}

// After get_dst_tensor the returned tensor is ignored: the output stays 1.
torch::Tensor t_dst(const torch::Tensor& x) {
  torch::Tensor y = get_dst_tensor();
  y.fill_(1);
  return torch::full(x.sizes(), 2, x.dtype());
}

torch::Tensor t_printf(const torch::Tensor& x) {
  printf("%s %d %5.2f %lld|%c|%08x\n", "numel", static_cast<int>(x.numel()), 3.14159, 1234567890123LL, 'q', 0xbeefu);
  return torch::zeros(x.sizes(), torch::kFloat);
}
