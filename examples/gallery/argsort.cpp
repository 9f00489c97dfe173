// SPDX-License-Identifier: Apache-2.0
//
// argsort: int32 positions that sort every row, stable.
//
// Schema: my::argsort(Tensor x) -> (Tensor y)

#include <gpsimd/kit.hpp>
#include <algorithm>

torch::Tensor argsort(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    gpsimd::rows<int32_t(float)>(static_cast<size_t>(x.numel()) / n, y, [n](size_t, int32_t* order, float* row) {
        for (size_t i = 0; i < n; ++i) {
            order[i] = i;
            const int32_t key = gpsimd::fast::key(row[i]);
            row[i] = gpsimd::fast::of_bits(key == -1 ? 0 : key);  // -0 and 0 are equal
        }
        std::sort(order, order + n, [row](int p, int q) {
            const auto key = [row](int i) { return static_cast<int32_t>(gpsimd::fast::bits(row[i])); };
            const int32_t a = key(p), b = key(q);
            return a < b || (a == b && p < q);
        });
    }, x);
    return y;
}
