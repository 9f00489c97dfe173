// SPDX-License-Identifier: Apache-2.0
//
// Host half of reduce: one number a row of x.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor reduce_shape(const torch::Tensor& x) {
    TORCH_CHECK(x.scalar_type() == torch::kFloat, "reduce: float32 only");
    TORCH_CHECK(x.dim() == 2, "reduce: x is a matrix");
    TORCH_CHECK(x.size(1) <= 3072, "reduce: a row must fit core-local memory, 3,072 elements");
    return torch::empty({x.size(0)}, torch::kFloat);
}

NEURON_LIBRARY(my, m) {
    m.def("reduce", &reduce_shape, "reduce");
}
