// SPDX-License-Identifier: Apache-2.0
//
// rows: every row of x divided by its root mean square. The second pattern: a row at a time, in place, whole in core-local
// memory (up to 4,096 floats); each core has its rows.
//
// Schema: my::rows(Tensor x, float eps) -> (Tensor y)
// Build:  gpsimd-build compile rows.cpp --multicore

#include <gpsimd/kit.hpp>

torch::Tensor rows(const torch::Tensor& x, double eps) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    gpsimd::rows<float>(x, y, n, [=](size_t, float* row) {
        const float scale = gpsimd::fast::rsqrt(gpsimd::dot(row, row, n) / n + static_cast<float>(eps));
        for (size_t i = 0; i < n; ++i) row[i] *= scale;
    });
    return y;
}
