// SPDX-License-Identifier: Apache-2.0
//
// scale_clip: y = scale * x + offset, limited to [-limit, limit]. Shows the argument kinds beside tensors: a float, an
// int, and a Scalar, which carries either.
//
// Schema: my::scale_clip(Tensor x, float scale, int limit, Scalar offset) -> (Tensor y)
// Build:  gpsimd-build compile examples/scale_clip.cpp
//           --schema 'my::scale_clip(Tensor x, float scale, int limit, Scalar offset) -> (Tensor y)'

#include <torch/torch.h>

torch::Tensor scale_clip(const torch::Tensor& x, float scale, int limit, const torch::Scalar& offset) {
    torch::Tensor y = torch::mul(x, scale);
    torch::add_out(y, y, offset);
    torch::clamp_out(y, y, -limit, limit);
    return y;
}
