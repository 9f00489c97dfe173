// SPDX-License-Identifier: Apache-2.0
//
// masked_softmax: softmax over the elements of a row that the mask admits (true); a row with none becomes zeros.
//
// Schema: my::masked_softmax(Tensor x, Tensor mask) -> (Tensor y)

#include <gpsimd/kit.hpp>
#include <cmath>

torch::Tensor masked_softmax(const torch::Tensor& x, const torch::Tensor& mask) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = gpsimd::last_extent(x);
    gpsimd::rows<float(float, uint8_t)>(static_cast<size_t>(x.numel()) / n, y, [n](size_t, float* out, const float* in, const uint8_t* admits) {
        float most = -INFINITY, total = 0;
        for (size_t i = 0; i < n; ++i) if (admits[i]) most = gpsimd::fast::max(most, in[i]);
        for (size_t i = 0; i < n; ++i) if (admits[i]) total += out[i] = gpsimd::fast::exp(in[i] - most);
        const float scale = 1.0f / total;
        for (size_t i = 0; i < n; ++i) out[i] = admits[i] ? out[i] * scale : 0.0f;
    }, x, mask);
    return y;
}
