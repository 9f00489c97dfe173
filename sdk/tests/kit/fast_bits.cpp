// SPDX-License-Identifier: Apache-2.0
//
// Schema: test::fast_bits(Tensor x, int which) -> (Tensor y)

#include <gpsimd/kit.hpp>

#include "fast_bits.hpp"

torch::Tensor fast_bits(const torch::Tensor& x, int which) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::map<float(float)>(y, [which](float v) { return fast_by_number(which, v); }, x);
    return y;
}
