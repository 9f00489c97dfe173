// SPDX-License-Identifier: Apache-2.0
//
// Host half of elementwise: the output is like the inputs.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor elementwise_shape(const torch::Tensor& x, const torch::Tensor& g) {
    TORCH_CHECK(x.scalar_type() == torch::kFloat && g.scalar_type() == torch::kFloat, "elementwise: float32 only");
    TORCH_CHECK(x.sizes() == g.sizes(), "elementwise: x and g must have one shape");
    return torch::empty(x.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) {
    m.def("elementwise", &elementwise_shape, "elementwise");
}
