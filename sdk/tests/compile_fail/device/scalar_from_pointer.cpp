// SPDX-License-Identifier: Apache-2.0
// expect: use of deleted function
#include <torch/torch.h>
torch::Tensor f(const torch::Tensor& x, const float* p) { return torch::add(x, p); }
