// SPDX-License-Identifier: Apache-2.0
//
// Uneven cores: row i of a triangle has i elements to compute. `before` gives every core as many rows as any other, so the
// last has most to do; `after` gives them rows in turn.
//
// Build: gpsimd-build compile examples/tuning/uneven.cpp --multicore

#include <gpsimd/kit.hpp>
#include <neuron/neuron-utils.hpp>

static void row(const torch::Tensor& x, torch::Tensor& y, size_t i, size_t n, gpsimd::Tcm<float>& block) {
    block.load(x, i * n, n);
    for (size_t j = 0; j < i; ++j) block[j] = (block[j] + 1.0f) * 0.5f;  // SLOW
    block.store(y, i * n, n);
}

torch::Tensor before(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = x.size(0);
    gpsimd::Tcm<float> block(n);
    const gpsimd::Span mine = gpsimd::share(n);
    for (size_t i = mine.begin; i < mine.end; ++i) row(x, y, i, n, block);
    return y;
}

torch::Tensor after(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = x.size(0);
    gpsimd::Tcm<float> block(n);
    for (size_t i = get_cpu_id(); i < n; i += get_cpu_count()) row(x, y, i, n, block);
    return y;
}
