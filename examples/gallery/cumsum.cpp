// SPDX-License-Identifier: Apache-2.0
//
// cumsum: running sum of all elements. Cores cannot hand each other their totals, so each sums what lies before its part
// itself: eight cores take as long as one.
//
// Schema: my::cumsum(Tensor x) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor cumsum(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const gpsimd::Span mine = gpsimd::share(x.numel());
    gpsimd::Tcm<float> block(2048);
    float total = 0;
    gpsimd::read_blocks(x, {0, mine.begin}, block, [&](const float* b, size_t n) { for (size_t i = 0; i < n; ++i) total += b[i]; });
    gpsimd::update_blocks(x, y, mine, block, [&](float* b, size_t n) { for (size_t i = 0; i < n; ++i) b[i] = total += b[i]; });
    return y;
}
