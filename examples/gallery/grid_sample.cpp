// SPDX-License-Identifier: Apache-2.0
//
// grid_sample: planes of input [N, C, H, W] sampled at the points of grid [N, Ho, Wo, 2]: bilinear, zeros outside,
// corners not aligned.
//
// Schema: my::grid_sample(Tensor input, Tensor grid) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor grid_sample(const torch::Tensor& input, const torch::Tensor& grid) {
    torch::Tensor y = get_dst_tensor();
    const size_t C = input.size(1), points = grid.size(1) * grid.size(2);
    gpsimd::Plane<float> planes(input);
    const int H = planes.height(), W = planes.width();
    gpsimd::Tcm<float> out(256), at(2 * out.size());
    const gpsimd::Span mine = gpsimd::share(input.size(0) * C);
    for (size_t plane = mine.begin; plane < mine.end; ++plane) {
        const float* const image = planes.at(plane);
        size_t done = plane * points;
        gpsimd::read_blocks(grid, {plane / C * points * 2, (plane / C + 1) * points * 2}, at, [&](const float* p, size_t n) {
            for (size_t i = 0; i < n / 2; ++i)
                out[i] = gpsimd::bilinear_or_zero(image, H, W, ((p[2 * i + 1] + 1) * H - 1) * 0.5f, ((p[2 * i] + 1) * W - 1) * 0.5f);
            out.store(y, done, n / 2);
            done += n / 2;
        });
    }
    return y;
}
