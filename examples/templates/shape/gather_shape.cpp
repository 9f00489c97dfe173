// SPDX-License-Identifier: Apache-2.0
//
// Host half of gather: a row for each index.

#include <torch/torch.h>
#include "torchneuron/register.h"

torch::Tensor gather_shape(const torch::Tensor& table, const torch::Tensor& index, const torch::Tensor& position) {
    TORCH_CHECK(table.scalar_type() == torch::kFloat && position.scalar_type() == torch::kFloat, "gather: float32 rows");
    TORCH_CHECK(index.scalar_type() == c10::ScalarType::Long, "gather: int64 indices");
    TORCH_CHECK(table.dim() == 2 && index.dim() == 1 && position.dim() == 2, "gather: two matrices and a vector of indices");
    TORCH_CHECK(position.size(0) == index.size(0) && position.size(1) == table.size(1), "gather: a position for each index");
    return torch::empty(position.sizes(), torch::kFloat);
}

NEURON_LIBRARY(my, m) {
    m.def("gather", &gather_shape, "gather");
}
