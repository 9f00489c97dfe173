// SPDX-License-Identifier: Apache-2.0
//
// softmax: softmax of every row. A row must fit TCM: up to 4,096 floats.
//
// Schema: my::softmax(Tensor x) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor softmax(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    gpsimd::rows<float>(x, y, n, [n](size_t, float* row) {
        const float most = gpsimd::largest(row, n);
        float total = 0;
        for (size_t i = 0; i < n; ++i) total += row[i] = gpsimd::fast::exp(row[i] - most);
        const float scale = 1.0f / total;
        for (size_t i = 0; i < n; ++i) row[i] *= scale;
    });
    return y;
}
