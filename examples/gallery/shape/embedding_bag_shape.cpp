// SPDX-License-Identifier: Apache-2.0
//
// Host half of embedding_bag.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor embedding_bag_shape(const torch::Tensor& table, const torch::Tensor& index, const torch::Tensor& offsets, int64_t mode) {
    TORCH_CHECK(mode == 0 || mode == 1, "embedding_bag: mode must be 0 (sum) or 1 (mean)");
    return torch::empty({offsets.numel(), table.size(1)}, torch::kFloat);
}

NEURON_LIBRARY(my, m) { m.def("embedding_bag", &embedding_bag_shape, "embedding_bag"); }
