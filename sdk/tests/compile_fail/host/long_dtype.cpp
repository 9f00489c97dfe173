// SPDX-License-Identifier: Apache-2.0
// expect: 64-bit elements are not supported on GPSIMD (withdrawn in Neuron SDK 2.25); use kInt
#include <torch/torch.h>
torch::Tensor f(torch::Tensor x) { return torch::zeros(x.sizes(), torch::kLong); }
