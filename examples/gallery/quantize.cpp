// SPDX-License-Identifier: Apache-2.0
//
// quantize: int8 with a scale and a zero point for each channel, the first dimension: round(x / scale) + zero, clipped.
//
// Schema: my::quantize(Tensor x, Tensor scale, Tensor zero) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor quantize(const torch::Tensor& x, const torch::Tensor& scale, const torch::Tensor& zero) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::Window<float> scales(scale);
    gpsimd::Window<int32_t> zeros(zero);
    const size_t channels = scales.size(), n = static_cast<size_t>(x.numel()) / channels;
    gpsimd::rows<int8_t(float)>(channels, y, [&](size_t channel, int8_t* out, const float* in) {
        const gpsimd::fast::FloatDivisor by(scales[channel]);
        const int shift = zeros[channel];
        for (size_t i = 0; i < n; ++i) {
            const int q = gpsimd::fast::round_to_int(by(in[i])) + shift;
            out[i] = q < -128 ? -128 : q > 127 ? 127 : q;
        }
    }, x);
    return y;
}
