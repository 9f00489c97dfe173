// SPDX-License-Identifier: Apache-2.0
//
// reduce: ln of the sum of e^x of every row. The third pattern: one number a row. Cores cannot add to one another's results,
// so what is reduced is a row, which one core has to itself.
//
// Schema: my::reduce(Tensor x) -> (Tensor y)
// Build:  gpsimd-build compile reduce.cpp --multicore

#include <gpsimd/kit.hpp>

torch::Tensor reduce(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    gpsimd::reduce_rows<float(float)>(x, y, [n](const float* row) {
        const float most = gpsimd::largest(row, n);  // taken out, so that no power overflows
        float total = 0;
        for (size_t i = 0; i < n; ++i) total += gpsimd::fast::exp(row[i] - most);
        return most + gpsimd::fast::log(total);
    });
    return y;
}
