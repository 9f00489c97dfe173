// SPDX-License-Identifier: Apache-2.0
//
// scatter_add: y = base, then y[index[i], :] += source[i, :] for every i, collisions included.
//
// Schema: my::scatter_add(Tensor base, Tensor index, Tensor source) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor scatter_add(const torch::Tensor& base, const torch::Tensor& index, const torch::Tensor& source) {
    torch::Tensor y = get_dst_tensor();
    const size_t D = base.size(1);
    gpsimd::scatter_rows<float>(base, index, source, y, D, [D](float* to, const float* from) {
        for (size_t d = 0; d < D; ++d) to[d] += from[d];
    });
    return y;
}
