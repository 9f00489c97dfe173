// SPDX-License-Identifier: Apache-2.0
//
// Element accesses: `before` reads and writes device memory one element at a time, `after` one block.
//
// Build: gpsimd-build compile examples/tuning/elements.cpp

#include <gpsimd/kit.hpp>

torch::Tensor before(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    auto in = x.accessor<float, 2>();
    auto out = y.accessor<float, 2>();
    const int rows = x.size(0), columns = x.size(1);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            out[i][j] = in[i][j] + 1.0f;  // SLOW
    return y;
}

torch::Tensor after(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = x.numel();
    gpsimd::Tcm<float> block(n);
    block.load(x, 0, n);
    for (float& v : block) v = v + 1.0f;
    block.store(y, 0, n);
    return y;
}
