// SPDX-License-Identifier: Apache-2.0
//
// Host half of vector_add: which shape comes out, and under which name PyTorch sees the operator.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor vector_add_shape(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.scalar_type() == torch::kFloat && b.scalar_type() == torch::kFloat, "vector_add: float32 only");
    TORCH_CHECK(a.sizes() == b.sizes(), "vector_add: the operands must have one shape");
    return torch::empty(a.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) {
    m.def("vector_add", &vector_add_shape, "vector_add");
}
