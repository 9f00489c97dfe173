// SPDX-License-Identifier: Apache-2.0
// expect: use of deleted function
#include <torch/torch.h>
torch::Tensor f() { return torch::zeros({2.5}, torch::kFloat); }
