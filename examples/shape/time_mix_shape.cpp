// SPDX-License-Identifier: Apache-2.0
//
// Host half of time_mix.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor time_mix_shape(const torch::Tensor& x, const torch::Tensor& mix) {
    TORCH_CHECK(x.dim() == 4 && mix.dim() == 4, "time_mix: x and mix are rank 4: batch, time, head, channel");
    TORCH_CHECK(x.scalar_type() == torch::kFloat && mix.scalar_type() == torch::kFloat, "time_mix: float32 only");
    TORCH_CHECK(mix.size(0) == 1 && mix.size(1) == 1 && mix.size(2) == x.size(2) && mix.size(3) == x.size(3), "time_mix: one weight per head and channel");
    return torch::empty(x.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) {
    m.def("time_mix", &time_mix_shape, "time_mix");
}
