// SPDX-License-Identifier: Apache-2.0
// expect: a shape function runs before the input data exists
#include <torch/torch.h>
float* f(torch::Tensor x) { return x.data_ptr<float>(); }
