// SPDX-License-Identifier: Apache-2.0
//
// The kernel takes an int; the caller of `faulty` passes an int64, half of which arrives.

#include <torch/torch.h>

torch::Tensor faulty(const torch::Tensor& x, int factor) { return torch::mul(x, factor); }
torch::Tensor corrected(const torch::Tensor& x, int factor) { return torch::mul(x, factor); }
