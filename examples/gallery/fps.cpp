// SPDX-License-Identifier: Apache-2.0
//
// fps: farthest point sampling: m points of each cloud [clouds, N, 3], each the farthest from those before it; int32
// [clouds, m].
//
// Schema: my::fps(Tensor points, int m) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor fps(const torch::Tensor& points, int m) {
    torch::Tensor y = get_dst_tensor();
    const size_t N = points.size(1);
    gpsimd::Tcm<float> distance(N);
    gpsimd::rows<int32_t(float)>(points.size(0), y, [&](size_t, int32_t* out, const float* p) {
        distance.fill(1e10f);
        size_t last = 0;
        for (int j = 0; j < m; ++j) {
            out[j] = last;
            const float* const from = p + 3 * last;
            for (size_t i = 0; i < N; ++i) distance[i] = gpsimd::fast::min(distance[i], gpsimd::squared_distance<3>(from, p + 3 * i));
            last = gpsimd::index_of_largest(distance, N);
        }
    }, points);
    return y;
}
