// SPDX-License-Identifier: Apache-2.0
//
// gather: y[i, :] = table[index[i], :] + position[i, :]. The fourth pattern: rows by int64 index. A Window reads the indices
// in blocks; each row comes with one copy.
//
// Schema: my::gather(Tensor table, Tensor index, Tensor position) -> (Tensor y)
// Build:  gpsimd-build compile gather.cpp --multicore

#include <gpsimd/kit.hpp>

torch::Tensor gather(const torch::Tensor& table, const torch::Tensor& index, const torch::Tensor& position) {
    torch::Tensor y = get_dst_tensor();
    const size_t width = table.size(1), known = table.size(0);
    gpsimd::Window<int64_t> at(index);
    gpsimd::Tcm<float> row(width);
    gpsimd::rows<float>(position, y, width, [&](size_t i, float* out) {
        const size_t k = static_cast<size_t>(at[i]);
        GPSIMD_REQUIRE(k < known, "index out of range");
        row.load(table, k * width, width);
        for (size_t d = 0; d < width; ++d) out[d] += row[d];
    });
    return y;
}
