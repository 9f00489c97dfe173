// SPDX-License-Identifier: Apache-2.0
//
// topk: the k largest of every row, first come first served: [rows, 2, k] floats, values and then positions.
//
// Schema: my::topk(Tensor x, int k) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor topk(const torch::Tensor& x, int k) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    gpsimd::rows<float(float)>(static_cast<size_t>(x.numel()) / n, y, [n, k](size_t, float* value, const float* in) {
        float* const position = value + k;
        int held = 0;
        for (size_t i = 0; i < n; ++i) {
            const int32_t key = gpsimd::fast::key(in[i]);
            if (held == k && key <= gpsimd::fast::key(value[k - 1])) continue;
            int at = held < k ? held++ : k - 1;
            for (; at > 0 && gpsimd::fast::key(value[at - 1]) < key; --at) {
                value[at] = value[at - 1];
                position[at] = position[at - 1];
            }
            value[at] = in[i];
            position[at] = i;
        }
    }, x);
    return y;
}
