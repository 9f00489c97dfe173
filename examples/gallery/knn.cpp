// SPDX-License-Identifier: Apache-2.0
//
// knn: the k points of reference [N, 3] nearest to each of query [M, 3], nearest first: int32 [M, k].
//
// Schema: my::knn(Tensor query, Tensor reference, int k) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor knn(const torch::Tensor& query, const torch::Tensor& reference, int k) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::Tcm<float> block(256 * 3), distance(k);
    gpsimd::rows<int32_t(float)>(query.size(0), y, [&](size_t, int32_t* id, const float* from) {
        distance.fill(3e38f);
        int32_t at = 0;
        gpsimd::read_blocks(reference, gpsimd::whole(reference), block, [&](const float* p, size_t n) {
            for (const float* end = p + n; p != end; p += 3, ++at) {
                const float d = gpsimd::squared_distance<3>(from, p);
                int j = k - 1;
                if (gpsimd::fast::key(d) >= gpsimd::fast::key(distance[j])) continue;
                for (; j > 0 && d < distance[j - 1]; --j) distance[j] = distance[j - 1], id[j] = id[j - 1];
                distance[j] = d, id[j] = at;
            }
        });
    }, query);
    return y;
}
