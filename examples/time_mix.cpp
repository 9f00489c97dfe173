// SPDX-License-Identifier: Apache-2.0
//
// time_mix: every step of a sequence blended with the step before it, as recurrent language models do:
//   y[b][t][h][c] = m * x[b][t][h][c] + (1 - m) * x[b][t - 1][h][c],  m = mix[0][0][h][c],  x[b][-1] = 0
// Element accessors of rank 4: batch, time, head, channel.
//
// Schema: my::time_mix(Tensor x, Tensor mix) -> (Tensor y)
// Build:  gpsimd-build compile examples/time_mix.cpp --schema 'my::time_mix(Tensor x, Tensor mix) -> (Tensor y)'

#include <torch/torch.h>

torch::Tensor time_mix(const torch::Tensor& x, const torch::Tensor& mix) {
    torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
    auto in = x.accessor<float, 4>();
    auto weight = mix.accessor<float, 4>();
    auto out = y.accessor<float, 4>();
    for (int64_t b = 0; b < x.size(0); ++b) {
        for (int64_t h = 0; h < x.size(2); ++h) {
            for (int64_t c = 0; c < x.size(3); ++c) {
                const float m = weight[0][0][h][c];
                float before = 0.0f;
                for (int64_t t = 0; t < x.size(1); ++t) {
                    const float now = in[b][t][h][c];
                    out[b][t][h][c] = m * now + (1.0f - m) * before;
                    before = now;
                }
            }
        }
    }
    return y;
}
