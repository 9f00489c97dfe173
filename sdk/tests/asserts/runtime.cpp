// SPDX-License-Identifier: Apache-2.0
//
// Kernels that misuse the functions below tensors; each must stop with the text in ../asserts.json.

#include <torch/torch.h>

#include <neuron/custom_op.h>

// In the runtime archive, declared by no header for kernels (customop-abi.md §2.4).
unsigned long long dram_addr_to_soc_addr(unsigned int);
at::Tensor customop_next_tensor();

torch::Tensor a_no_dataram_address(const torch::Tensor& x) {
  torch::Tensor y = torch::zeros(x.sizes(), x.dtype());
  return dram_addr_to_soc_addr(0x7ffff) == 0 ? x : y;
}

// One pull more than there are arguments.
torch::Tensor a_over_pull(const torch::Tensor&) { return customop_next_tensor(); }

// Negative and ninth dimension.
torch::Tensor a_negative_extent(const torch::Tensor&) { return torch::zeros({2, -1}, torch::kFloat); }
torch::Tensor a_rank_nine(const torch::Tensor&) { return torch::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}, torch::kFloat); }
torch::Tensor a_size_index(const torch::Tensor& x) { return torch::zeros({x.size(1)}, torch::kFloat); }
torch::Tensor a_undefined(const torch::Tensor&) {
  torch::Tensor nothing;
  return torch::abs(nothing);
}

// What a check may print, and the comparing checks.
torch::Tensor a_check_eq(const torch::Tensor& x) {
  TORCH_WARN("still running");
  TORCH_CHECK_EQ(x.dim(), 2);
  return x;
}
enum class Mode { kFast = 7 };
torch::Tensor a_check_prints(const torch::Tensor& x) {
  const auto a = x.accessor<float, 1>();
  const short small = 3;
  TORCH_CHECK(false, x.sizes(), ' ', x.dtype(), ' ', x.scalar_type(), ' ', a[1], ' ', small, ' ', Mode::kFast, ' ', c10::Half(0.5f), ' ',
              c10::Scalar(4), ' ', nullptr);
  return x;
}
