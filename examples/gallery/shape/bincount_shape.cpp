// SPDX-License-Identifier: Apache-2.0
//
// Host half of bincount.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor bincount_shape(const torch::Tensor& x, int64_t bins) {
    return torch::empty({bins}, torch::kInt);
}

NEURON_LIBRARY(my, m) { m.def("bincount", &bincount_shape, "bincount"); }
