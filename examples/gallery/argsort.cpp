// SPDX-License-Identifier: Apache-2.0
//
// argsort: int32 positions that sort every row, stable.
//
// Schema: my::argsort(Tensor x) -> (Tensor y)

#include <gpsimd/kit.hpp>
#include <algorithm>
#include <cstring>

torch::Tensor argsort(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    gpsimd::rows<int32_t(float)>(static_cast<size_t>(x.numel()) / n, y, [n](size_t, int32_t* order, float* row) {
        const auto bits = [](float v) { int32_t b; memcpy(&b, &v, sizeof b); return b; };
        for (size_t i = 0; i < n; ++i) {
            order[i] = i;
            int32_t key = gpsimd::fast::key_of_bits(bits(row[i]));
            if (key == -1) key = 0;  // -0 and 0 are equal
            memcpy(row + i, &key, sizeof key);
        }
        std::sort(order, order + n, [row, bits](int p, int q) {
            const int32_t a = bits(row[p]), b = bits(row[q]);
            return a < b || (a == b && p < q);
        });
    }, x);
    return y;
}
