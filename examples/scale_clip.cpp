// SPDX-License-Identifier: Apache-2.0
//
// 3. scale_clip: y = scale * x + offset, limited to [-limit, limit]. Shows the argument kinds beside tensors: a float, an
// int, and a Scalar, which carries either. The function given to map takes them along.
//
// Schema: my::scale_clip(Tensor x, float scale, int limit, Scalar offset) -> (Tensor y)
// Build:  gpsimd-build compile examples/scale_clip.cpp --multicore
//           --schema 'my::scale_clip(Tensor x, float scale, int limit, Scalar offset) -> (Tensor y)'

#include <gpsimd/kit.hpp>

torch::Tensor scale_clip(const torch::Tensor& x, float scale, int limit, const torch::Scalar& offset) {
    torch::Tensor y = get_dst_tensor();
    const float high = static_cast<float>(limit), low = -high, shift = offset.to<float>();
    gpsimd::map<float(float)>(y, [=](float v) {
        v = scale * v + shift;
        return v < low ? low : v > high ? high : v;  // a NaN is neither
    }, x);
    return y;
}
