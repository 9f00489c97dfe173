// SPDX-License-Identifier: Apache-2.0
//
// Host half of scatter_add.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor scatter_add_shape(const torch::Tensor& base, const torch::Tensor& index, const torch::Tensor& source) {
    TORCH_CHECK(source.size(0) == index.numel() && source.size(1) == base.size(1), "scatter_add: source must be [index, columns of base]");
    return torch::empty(base.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) { m.def("scatter_add", &scatter_add_shape, "scatter_add"); }
