// SPDX-License-Identifier: Apache-2.0
//
// nms: non-maximum suppression of up to 640 boxes (x0, y0, x1, y1): positions that stay, best score first, then -1. Each
// box waits for all better ones, so core 0 does it alone.
//
// Schema: my::nms(Tensor boxes, Tensor scores, float threshold) -> (Tensor y)

#include <gpsimd/kit.hpp>
#include <algorithm>

static float overlap(const float* p, const float* q) {
    using gpsimd::fast::max;
    using gpsimd::fast::min;
    const float inter = max(0.0f, min(p[2], q[2]) - max(p[0], q[0])) * max(0.0f, min(p[3], q[3]) - max(p[1], q[1]));
    return inter == 0 ? 0 : inter / ((p[2] - p[0]) * (p[3] - p[1]) + (q[2] - q[0]) * (q[3] - q[1]) - inter);
}

torch::Tensor nms(const torch::Tensor& boxes, const torch::Tensor& scores, double threshold) {
    torch::Tensor y = get_dst_tensor();
    if (gpsimd::core_id() != 0) return y;
    const gpsimd::Tcm<float> box(boxes), score(scores);
    const size_t n = score.size();
    gpsimd::Tcm<int32_t> order(n);
    for (size_t i = 0; i < n; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](int p, int q) { return score[p] > score[q] || (score[p] == score[q] && p < q); });
    size_t kept = 0;
    for (int32_t* left = order.end(); order + kept < left; ++kept)
        left = std::remove_if(order + kept + 1, left, [&](int q) { return overlap(box + 4 * order[kept], box + 4 * q) > threshold; });
    std::fill(order + kept, order.end(), -1);
    order.store(y, 0, n);
    return y;
}
