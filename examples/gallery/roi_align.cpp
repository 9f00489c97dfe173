// SPDX-License-Identifier: Apache-2.0
//
// roi_align: regions of feature maps [N, C, H, W], averaged over a grid of ph x pw cells: [K, C, ph, pw]. A region is
// (image, x0, y0, x1, y1). sampling: points a cell in each direction, 0 for as many as it is large. A plane must fit
// TCM.
//
// Schema: my::roi_align(Tensor input, Tensor rois, float scale, int ph, int pw, int sampling, int aligned) -> (Tensor y)

#include <gpsimd/kit.hpp>
#include <algorithm>

torch::Tensor roi_align(const torch::Tensor& input, const torch::Tensor& rois, float scale, int ph, int pw, int sampling, int aligned) {
    using gpsimd::fast::floor_to_int;
    torch::Tensor y = get_dst_tensor();
    const int C = input.size(1), H = input.size(2), W = input.size(3);
    gpsimd::Plane<float> planes(input);
    gpsimd::Window<float> roi(rois, 5);
    gpsimd::rows<float()>(rois.size(0) * C, y, [&](size_t r, float* out) {
        const size_t k = r / C * 5;
        const float* const image = planes.at(static_cast<size_t>(roi[k]) * C + r % C);
        const float offset = aligned ? 0.5f : 0.0f, x0 = roi[k + 1] * scale - offset, y0 = roi[k + 2] * scale - offset;
        float width = roi[k + 3] * scale - offset - x0, height = roi[k + 4] * scale - offset - y0;
        if (!aligned) width = std::max(width, 1.0f), height = std::max(height, 1.0f);
        const float bh = height / ph, bw = width / pw;
        const int gh = sampling > 0 ? sampling : -floor_to_int(-bh), gw = sampling > 0 ? sampling : -floor_to_int(-bw);
        const float each = 1.0f / std::max(gh * gw, 1), dy = bh / gh, dx = bw / gw;
        for (int cell = 0; cell < ph * pw; ++cell) {
            float total = 0;
            for (int point = 0; point < gh * gw; ++point) {
                float v = y0 + cell / pw * bh + (point / gw + 0.5f) * dy, u = x0 + cell % pw * bw + (point % gw + 0.5f) * dx;
                if (v < -1 || v > H || u < -1 || u > W) continue;
                v = std::min(std::max(v, 0.0f), H - 1.0f), u = std::min(std::max(u, 0.0f), W - 1.0f);
                total += gpsimd::bilinear(image, H, W, v, u);
            }
            out[cell] = total * each;
        }
    });
    return y;
}
