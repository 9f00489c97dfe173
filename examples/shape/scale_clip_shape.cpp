// SPDX-License-Identifier: Apache-2.0
//
// Host half of scale_clip. The parameters are the kernel's; PyTorch passes its float as double and its int as int64_t.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor scale_clip_shape(const torch::Tensor& x, double scale, int64_t limit, const torch::Scalar& offset) {
    (void)scale, (void)offset;
    TORCH_CHECK(x.scalar_type() == torch::kFloat, "scale_clip: float32 only");
    TORCH_CHECK(limit >= 0, "scale_clip: limit must not be negative");
    return torch::empty(x.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) {
    m.def("scale_clip", &scale_clip_shape, "scale_clip");
}
