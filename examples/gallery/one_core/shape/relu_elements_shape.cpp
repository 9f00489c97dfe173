// SPDX-License-Identifier: Apache-2.0
//
// Host half of relu_elements: two operators of one library.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor forward_shape(torch::Tensor x) {
    TORCH_CHECK(x.scalar_type() == torch::kFloat, "relu_rows: float32 only");
    return torch::zeros(x.sizes(), torch::kFloat);
}

torch::Tensor backward_shape(torch::Tensor grad, torch::Tensor x) {
    TORCH_CHECK(grad.scalar_type() == torch::kFloat && x.scalar_type() == torch::kFloat, "relu_rows_backward: float32 only");
    TORCH_CHECK(grad.sizes() == x.sizes(), "relu_rows_backward: grad and x must have one shape");
    return torch::zeros(x.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) {
    m.def("relu_rows", &forward_shape, "relu_rows");
    m.def("relu_rows_backward", &backward_shape, "relu_rows_backward");
}
