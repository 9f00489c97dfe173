// SPDX-License-Identifier: Apache-2.0
// expect: a shape function runs before the input data exists
#include <torch/torch.h>
torch::Tensor f(torch::Tensor x) {
  x.accessor<float, 1>();
  return x;
}
