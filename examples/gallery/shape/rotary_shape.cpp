// SPDX-License-Identifier: Apache-2.0
//
// Host half of rotary.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor rotary_shape(const torch::Tensor& x, int64_t pos0, double base) {
    TORCH_CHECK(x.dim() == 4 && x.size(3) % 2 == 0, "rotary: x must be [batch, step, head, D] with an even D");
    return torch::empty(x.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) { m.def("rotary", &rotary_shape, "rotary"); }
