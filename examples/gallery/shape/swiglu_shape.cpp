// SPDX-License-Identifier: Apache-2.0
//
// Host half of swiglu.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor swiglu_shape(const torch::Tensor& gate, const torch::Tensor& up) {
    TORCH_CHECK(gate.sizes() == up.sizes(), "swiglu: gate and up must have one shape");
    return torch::empty(gate.sizes(), gate.dtype());
}

NEURON_LIBRARY(my, m) { m.def("swiglu", &swiglu_shape, "swiglu"); }
