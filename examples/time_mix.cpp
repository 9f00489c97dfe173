// SPDX-License-Identifier: Apache-2.0
//
// 4. time_mix: every step of a sequence blended with the step before it, as recurrent language models do:
//   y[b][t][h][c] = m * x[b][t][h][c] + (1 - m) * x[b][t - 1][h][c],  m = mix[0][0][h][c],  x[b][-1] = 0
// Work by rows: one step of one sequence, all heads and channels, is a row. gpsimd::rows gives each core its rows; what a row
// needs beside itself lies in blocks of core-local memory (Tcm), which free themselves.
//
// Schema: my::time_mix(Tensor x, Tensor mix) -> (Tensor y)
// Build:  gpsimd-build compile examples/time_mix.cpp --multicore --schema 'my::time_mix(Tensor x, Tensor mix) -> (Tensor y)'

#include <gpsimd/kit.hpp>

torch::Tensor time_mix(const torch::Tensor& x, const torch::Tensor& mix) {
    torch::Tensor y = get_dst_tensor();
    const size_t steps = x.size(1), width = x.size(2) * x.size(3);
    const gpsimd::Tcm<float> weight(mix);
    gpsimd::Tcm<float> before(width);
    gpsimd::rows<float>(x, y, width, [&](size_t row, float* now) {
        if (row % steps == 0)
            before.fill(0.0f);
        else
            before.load(x, (row - 1) * width, width);
        for (size_t i = 0; i < width; ++i)
            now[i] = weight[i] * now[i] + (1.0f - weight[i]) * before[i];
    });
    return y;
}
