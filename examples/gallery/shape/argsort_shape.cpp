// SPDX-License-Identifier: Apache-2.0
//
// Host half of argsort.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor argsort_shape(const torch::Tensor& x) {
    return torch::empty(x.sizes(), torch::kInt);
}

NEURON_LIBRARY(my, m) { m.def("argsort", &argsort_shape, "argsort"); }
