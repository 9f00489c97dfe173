// SPDX-License-Identifier: Apache-2.0
//
// gelu: x P(X <= x) for a normal X, element by element: the exact GELU.
//
// Schema: my::gelu(Tensor x) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor gelu(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::map<float(float)>(y, gpsimd::fast::gelu, x);
    return y;
}
