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
    gpsimd::rows<int32_t(int32_t)>(static_cast<size_t>(x.numel()) / n, y, [n](size_t, int32_t* order, int32_t* key) {
        for (size_t i = 0; i < n; ++i) {
            order[i] = i;
            key[i] = gpsimd::fast::key_of_bits(key[i]);
            if (key[i] == -1) key[i] = 0;  // -0 and 0 are equal
        }
        std::sort(order, order + n, [key](int p, int q) { return key[p] < key[q] || (key[p] == key[q] && p < q); });
    }, x);
    return y;
}
