// SPDX-License-Identifier: Apache-2.0
//
// dequantize: (x - zero) * scale with a scale and a zero point for each channel, the first dimension; int8 to float.
//
// Schema: my::dequantize(Tensor x, Tensor scale, Tensor zero) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor dequantize(const torch::Tensor& x, const torch::Tensor& scale, const torch::Tensor& zero) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::Window<float> scales(scale);
    gpsimd::Window<int32_t> zeros(zero);
    const size_t channels = scales.size(), n = static_cast<size_t>(x.numel()) / channels;
    gpsimd::rows<float(int8_t)>(channels, y, [&](size_t channel, float* out, const int8_t* in) {
        const float by = scales[channel];
        const int shift = zeros[channel];
        for (size_t i = 0; i < n; ++i) out[i] = (in[i] - shift) * by;
    }, x);
    return y;
}
