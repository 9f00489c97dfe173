// SPDX-License-Identifier: Apache-2.0
//
// rms_norm: x / sqrt(mean of x^2 + eps) * weight on every row; bfloat16 in memory, float inside.
//
// Schema: my::rms_norm(Tensor x, Tensor weight, float eps) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor rms_norm(const torch::Tensor& x, const torch::Tensor& weight, double eps) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    const gpsimd::Tcm<at::BFloat16> weights(weight);
    gpsimd::rows<at::BFloat16>(x, y, n, [=, w = weights.begin()](size_t, at::BFloat16* row) {
        float squares = 0;
        for (size_t i = 0; i < n; ++i) {
            const float v = row[i];
            squares += v * v;
        }
        const float scale = gpsimd::fast::rsqrt(squares / n + static_cast<float>(eps));
        for (size_t i = 0; i < n; ++i) row[i] = static_cast<float>(row[i]) * scale * static_cast<float>(w[i]);
    });
    return y;
}
