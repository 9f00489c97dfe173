// SPDX-License-Identifier: Apache-2.0
//
// wkv: the recurrence of RWKV in its stable form: k, v [B, T, C], decay w and bonus u [C]. Channels of a batch are
// shared out; time runs inside.
//
// Schema: my::wkv(Tensor w, Tensor u, Tensor k, Tensor v) -> (Tensor y)

#include <gpsimd/kit.hpp>
#include <algorithm>

torch::Tensor wkv(const torch::Tensor& w, const torch::Tensor& u, const torch::Tensor& k, const torch::Tensor& v) {
    using gpsimd::fast::exp;
    torch::Tensor y = get_dst_tensor();
    const size_t T = k.size(1), C = k.size(2), width = std::min<size_t>(C, 64), each = (C + width - 1) / width;
    const gpsimd::Span mine = gpsimd::share(k.size(0) * each);
    gpsimd::Tcm<float> decay(width), bonus(width), key(width), value(width), top(width), bottom(width), most(width);
    for (size_t part = mine.begin; part < mine.end; ++part) {
        const size_t first = part % each * width, n = std::min(width, C - first);
        decay.load(w, first, n);
        bonus.load(u, first, n);
        top.fill(0), bottom.fill(0), most.fill(-1e38f);
        for (size_t t = 0; t < T; ++t) {
            const size_t at = (part / each * T + t) * C + first;
            key.load(k, at, n);
            value.load(v, at, n);
            for (size_t c = 0; c < n; ++c) {
                // top / bottom is a mean of values, weighted by e^(key): both are kept relative to e^most.
                const float now = bonus[c] + key[c], p = now > most[c] ? now : most[c], e1 = exp(most[c] - p), e2 = exp(now - p);
                const float out = (e1 * top[c] + e2 * value[c]) / (e1 * bottom[c] + e2);
                const float faded = most[c] + decay[c], q = faded > key[c] ? faded : key[c], f1 = exp(faded - q), f2 = exp(key[c] - q);
                top[c] = f1 * top[c] + f2 * value[c];
                bottom[c] = f1 * bottom[c] + f2;
                most[c] = q;
                key[c] = out;
            }
            key.store(y, at, n);
        }
    }
    return y;
}
