// SPDX-License-Identifier: Apache-2.0
// expect: too few arguments to function
#include <torch/torch.h>
torch::Tensor f(const torch::Tensor& x) { return torch::zeros(x.sizes()); }
