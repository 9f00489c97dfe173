// SPDX-License-Identifier: Apache-2.0
//
// chamfer: squared distance from every point of a [N, 3] to the nearest of b [M, 3], and the other way round: two
// results packed in one output of N + M floats.
//
// Schema: my::chamfer(Tensor a, Tensor b) -> (Tensor y)

#include <gpsimd/kit.hpp>

static void nearest(const torch::Tensor& a, const torch::Tensor& b, torch::Tensor& y, size_t part) {
    gpsimd::Tcm<float> block(512 * 3);
    gpsimd::reduce_rows<float(float)>(a, y, part, a.size(0), [&](const float* from) {
        float least = 3e38f;
        gpsimd::read_blocks(b, gpsimd::whole(b), block, [&](const float* p, size_t n) {
            for (const float* end = p + n; p != end; p += 3) least = gpsimd::fast::min(least, gpsimd::squared_distance<3>(from, p));
        });
        return least;
    });
}

torch::Tensor chamfer(const torch::Tensor& a, const torch::Tensor& b) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::Packing parts;
    nearest(a, b, y, parts.add(a.size(0)));
    nearest(b, a, y, parts.add(b.size(0)));
    return y;
}
