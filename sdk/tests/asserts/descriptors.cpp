// SPDX-License-Identifier: Apache-2.0
//
// Harmless kernels for descriptors that are wrong on the wire (customop-abi.md §5, §7, §11); what is wrong stands in
// ../asserts.json.

#include <torch/torch.h>

torch::Tensor d_tensor(const torch::Tensor& x) { return torch::zeros(x.sizes(), torch::kFloat); }
torch::Tensor d_scalar(const torch::Scalar& s) { return torch::full({1}, s, torch::kFloat); }
