// SPDX-License-Identifier: Apache-2.0
//
// Host half of wkv.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor wkv_shape(const torch::Tensor& w, const torch::Tensor& u, const torch::Tensor& k, const torch::Tensor& v) {
    TORCH_CHECK(k.sizes() == v.sizes(), "wkv: k and v must have one shape");
    return torch::empty(k.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) { m.def("wkv", &wkv_shape, "wkv"); }
