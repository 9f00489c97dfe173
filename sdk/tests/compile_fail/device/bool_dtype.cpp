// SPDX-License-Identifier: Apache-2.0
// expect: bool elements are not supported on GPSIMD; use kByte
#include <torch/torch.h>
torch::Tensor f(const torch::Tensor& x) { return torch::ones(x.sizes(), at::kBool); }
