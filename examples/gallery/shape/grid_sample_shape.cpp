// SPDX-License-Identifier: Apache-2.0
//
// Host half of grid_sample.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor grid_sample_shape(const torch::Tensor& input, const torch::Tensor& grid) {
    TORCH_CHECK(grid.size(0) == input.size(0) && grid.size(3) == 2, "grid_sample: grid must be [N, Ho, Wo, 2]");
    return torch::empty({input.size(0), input.size(1), grid.size(1), grid.size(2)}, torch::kFloat);
}

NEURON_LIBRARY(my, m) { m.def("grid_sample", &grid_sample_shape, "grid_sample"); }
