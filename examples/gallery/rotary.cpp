// SPDX-License-Identifier: Apache-2.0
//
// rotary: rotary position embedding of x [batch, step, head, D]: pairs (i, i + D/2) turn by (pos0 + step) *
// base^(-2i/D).
//
// Schema: my::rotary(Tensor x, int pos0, float base) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor rotary(const torch::Tensor& x, int64_t pos0, double base) {
    torch::Tensor y = get_dst_tensor();
    const size_t steps = x.size(1), heads = x.size(2), D = x.size(3), half = D / 2;
    gpsimd::Tcm<float> frequency(half), cosine(half), sine(half);
    const float rate = gpsimd::fast::log(static_cast<float>(base)) * -2.0f / D;
    for (size_t i = 0; i < half; ++i) frequency[i] = gpsimd::fast::exp(rate * i);
    gpsimd::rows<float>(x, y, heads * D, [&](size_t r, float* row) {
        const float position = pos0 + static_cast<int>(r % steps);
        for (size_t i = 0; i < half; ++i) gpsimd::fast::sincos(position * frequency[i], sine[i], cosine[i]);
        for (float* p = row; p != row + heads * D; p += D)
            for (size_t i = 0; i < half; ++i) {
                const float a = p[i], b = p[i + half];
                p[i] = a * cosine[i] - b * sine[i];
                p[i + half] = b * cosine[i] + a * sine[i];
            }
    });
    return y;
}
