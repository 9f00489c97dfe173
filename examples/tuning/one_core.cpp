// SPDX-License-Identifier: Apache-2.0
//
// One core does all: `before` lets core 0 work and the others return, `after` gives every core its share.
//
// Build: gpsimd-build compile examples/tuning/one_core.cpp --multicore

#include <gpsimd/kit.hpp>
#include <neuron/neuron-utils.hpp>

static float step(float v) {
    return (v + 1.0f) * 0.5f;  // SLOW
}

torch::Tensor before(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    if (get_cpu_id() != 0) return y;
    const size_t n = x.numel();
    gpsimd::Tcm<float> block(n);
    block.load(x, 0, n);
    for (float& v : block) v = step(v);  // SLOW
    block.store(y, 0, n);
    return y;
}

torch::Tensor after(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const gpsimd::Span mine = gpsimd::share(x.numel());
    if (mine.empty()) return y;
    gpsimd::Tcm<float> block(mine.size());
    block.load(x, mine.begin, mine.size());
    for (float& v : block) v = step(v);
    block.store(y, mine.begin, mine.size());
    return y;
}
