// SPDX-License-Identifier: Apache-2.0
// expect: 64-bit elements are not supported on GPSIMD (withdrawn in Neuron SDK 2.25); use kFloat
#include <torch/torch.h>
bool f(const torch::Tensor& x) { return x.dtype() == torch::kDouble; }
