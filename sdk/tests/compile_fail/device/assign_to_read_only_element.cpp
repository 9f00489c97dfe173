// SPDX-License-Identifier: Apache-2.0
// expect: Can only write to non-const Tensors
#include <torch/torch.h>
void f(const torch::Tensor& x) {
  auto elements = x.accessor<float, 1>();
  elements[0] = 1.0f;
}
