// SPDX-License-Identifier: Apache-2.0
//
// Small transfers: `before` copies four elements at a time, `after` all of them, for what one transfer costs.
//
// Build: gpsimd-build compile examples/tuning/transfers.cpp

#include <gpsimd/kit.hpp>

torch::Tensor before(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = x.numel();
    gpsimd::Tcm<float> block(4);
    for (size_t i = 0; i < n; i += 4) {
        block.load(x, i, 4);  // SLOW
        for (float& v : block) v = v + 1.0f;
        block.store(y, i, 4);  // SLOW
    }
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
