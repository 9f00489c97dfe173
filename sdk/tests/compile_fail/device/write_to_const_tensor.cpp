// SPDX-License-Identifier: Apache-2.0
// expect: Can only write to non-const Tensors
#include <torch/torch.h>
void f(const torch::Tensor& x, float* block) {
  auto tcm = x.tcm_accessor();
  tcm.tcm_to_tensor<float>(block, 0, 1);
}
