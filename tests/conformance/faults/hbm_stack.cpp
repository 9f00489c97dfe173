// SPDX-License-Identifier: Apache-2.0
//
// Faulty when built with a STACK_SIZE beyond the local stack.

#include <torch/torch.h>

torch::Tensor faulty(const torch::Tensor& x) { return torch::mul(x, 2); }
torch::Tensor corrected(const torch::Tensor& x) { return torch::mul(x, 2); }
