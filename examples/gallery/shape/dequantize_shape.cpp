// SPDX-License-Identifier: Apache-2.0
//
// Host half of dequantize.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor dequantize_shape(const torch::Tensor& x, const torch::Tensor& scale, const torch::Tensor& zero) {
    TORCH_CHECK(scale.numel() == x.size(0) && zero.numel() == x.size(0), "dequantize: one scale and one zero point for each channel");
    return torch::empty(x.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) { m.def("dequantize", &dequantize_shape, "dequantize"); }
