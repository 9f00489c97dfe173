// SPDX-License-Identifier: Apache-2.0
//
// cumsum_rows: running sum of every row.
//
// Schema: my::cumsum_rows(Tensor x) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor cumsum_rows(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    gpsimd::rows<float>(x, y, n, [n](size_t, float* row) {
        float total = 0;
        for (size_t i = 0; i < n; ++i) row[i] = total += row[i];
    });
    return y;
}
