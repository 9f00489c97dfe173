// SPDX-License-Identifier: Apache-2.0
//
// layer_norm: (x - mean) / sqrt(variance + eps) * weight + bias on every row.
//
// Schema: my::layer_norm(Tensor x, Tensor weight, Tensor bias, float eps) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor layer_norm(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias, float eps) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    const gpsimd::Tcm<float> w(weight), b(bias);
    gpsimd::rows<float>(x, y, n, [&](size_t, float* row) {
        const float mean = gpsimd::sum(row, n) / n;
        for (size_t i = 0; i < n; ++i) row[i] -= mean;
        const float scale = gpsimd::fast::rsqrt(gpsimd::dot(row, row, n) / n + eps);
        for (size_t i = 0; i < n; ++i) row[i] = row[i] * scale * w[i] + b[i];
    });
    return y;
}
