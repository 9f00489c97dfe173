// SPDX-License-Identifier: Apache-2.0
//
// Host half of fps.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor fps_shape(const torch::Tensor& points, int64_t m) {
    TORCH_CHECK(points.dim() == 3 && points.size(2) == 3, "fps: points must be [clouds, N, 3]");
    return torch::empty({points.size(0), m}, torch::kInt);
}

NEURON_LIBRARY(my, m) { m.def("fps", &fps_shape, "fps"); }
