// SPDX-License-Identifier: Apache-2.0
//
// hash32: a 32-bit hash of every row of int32.
//
// Schema: my::hash32(Tensor x, int seed) -> (Tensor y)

#include <gpsimd/kit.hpp>

static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

torch::Tensor hash32(const torch::Tensor& x, int64_t seed) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    gpsimd::reduce_rows<int32_t(int32_t)>(x, y, [=](const int32_t* row) {
        uint32_t h = static_cast<uint32_t>(seed) + 374761393u + 4u * n;
        for (const int32_t* end = row + n; row != end; ++row) h = rotated(h + static_cast<uint32_t>(*row) * 3266489917u, 17) * 668265263u;
        h = (h ^ h >> 15) * 2246822519u;
        h = (h ^ h >> 13) * 3266489917u;
        return static_cast<int32_t>(h ^ h >> 16);
    });
    return y;
}
