// SPDX-License-Identifier: Apache-2.0
//
// `double` where `float` would do: one constant without an f, and C++ computes the whole expression in double.
//
// Build: gpsimd-build compile examples/tuning/doubles.cpp

#include <gpsimd/kit.hpp>

torch::Tensor before(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = x.numel();
    gpsimd::Tcm<float> block(n);
    block.load(x, 0, n);
    for (float& v : block) v = v * 0.5 + 1.25;  // SLOW
    block.store(y, 0, n);
    return y;
}

torch::Tensor after(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = x.numel();
    gpsimd::Tcm<float> block(n);
    block.load(x, 0, n);
    for (float& v : block) v = v * 0.5f + 1.25f;
    block.store(y, 0, n);
    return y;
}
