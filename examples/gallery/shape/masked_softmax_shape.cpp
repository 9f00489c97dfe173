// SPDX-License-Identifier: Apache-2.0
//
// Host half of masked_softmax.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor masked_softmax_shape(const torch::Tensor& x, const torch::Tensor& mask) {
    TORCH_CHECK(x.sizes() == mask.sizes(), "masked_softmax: x and mask must have one shape");
    return torch::empty(x.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) { m.def("masked_softmax", &masked_softmax_shape, "masked_softmax"); }
