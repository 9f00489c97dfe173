// SPDX-License-Identifier: Apache-2.0
//
// embedding_bag: sum (mode 0) or mean (mode 1) of the table's rows that each bag names; bag b is index[offsets[b]] up to
// the next offset.
//
// Schema: my::embedding_bag(Tensor table, Tensor index, Tensor offsets, int mode) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor embedding_bag(const torch::Tensor& table, const torch::Tensor& index, const torch::Tensor& offsets, int mode) {
    torch::Tensor y = get_dst_tensor();
    const size_t D = table.size(1), bags = offsets.numel();
    gpsimd::Window<int64_t> at(index, 128), offset(offsets, 32);
    gpsimd::Tcm<float> row(D);
    gpsimd::rows<float()>(bags, y, [&](size_t bag, float* out) {
        const size_t begin = offset[bag], end = bag + 1 < bags ? offset[bag + 1] : index.numel();
        for (size_t d = 0; d < D; ++d) out[d] = 0;
        for (size_t i = begin; i < end; ++i) {
            GPSIMD_REQUIRE(static_cast<uint64_t>(at[i]) < static_cast<uint64_t>(table.size(0)), "index out of range");
            row.load(table, at[i] * D, D);
            for (size_t d = 0; d < D; ++d) out[d] += row[d];
        }
        const float scale = 1.0f / (end - begin);
        if (mode == 1 && end > begin) for (size_t d = 0; d < D; ++d) out[d] *= scale;
    });
    return y;
}
