// SPDX-License-Identifier: Apache-2.0
//
// Host half of negate_stream: the output is like the input.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor negate_stream_shape(const torch::Tensor& x) {
    TORCH_CHECK(x.scalar_type() == torch::kFloat, "negate_stream: float32 only");
    return torch::empty(x.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) {
    m.def("negate_stream", &negate_stream_shape, "negate_stream");
}
