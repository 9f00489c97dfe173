// SPDX-License-Identifier: Apache-2.0
//
// tiles: the largest of the 3 x 3 pixels around each, for images of any size. The fifth pattern: a plane that does not fit
// core-local memory, in tiles that bring a border of their neighbours along.
//
// Schema: my::tiles(Tensor x) -> (Tensor y)
// Build:  gpsimd-build compile tiles.cpp --multicore

#include <gpsimd/kit.hpp>

#include <float.h>

torch::Tensor tiles(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::tiles<float>(x, y, 16, 64, 1, [](float* out, const float* in, const gpsimd::Tile& tile) {
        const int stride = tile.width + 2;
        for (int r = 0; r < tile.height; ++r, in += 2)
            for (int c = 0; c < tile.width; ++c, ++in) {
                float most = in[0];
                for (int k = 1; k < 9; ++k) most = gpsimd::fast::max(most, in[k / 3 * stride + k % 3]);
                *out++ = most;
            }
    }, -FLT_MAX);
    return y;
}
