// SPDX-License-Identifier: Apache-2.0
//
// selective_scan: the state-space recurrence of Mamba: u, delta [B, D, L]; A [D, N]; Bm, Cm [B, N, L]; skip [D];
// softplus on delta. For each (b, d) h = exp(delta A) h + delta B u, y = C h + skip u.
//
// Schema: my::selective_scan(Tensor u, Tensor delta, Tensor A, Tensor Bm, Tensor Cm, Tensor skip) -> (Tensor y)

#include <gpsimd/kit.hpp>
#include <algorithm>

torch::Tensor selective_scan(const torch::Tensor& u, const torch::Tensor& delta, const torch::Tensor& A, const torch::Tensor& Bm,
                             const torch::Tensor& Cm, const torch::Tensor& skip) {
    torch::Tensor y = get_dst_tensor();
    const size_t D = u.size(1), L = u.size(2), N = A.size(1), steps = 64;
    const gpsimd::Span mine = gpsimd::share(u.size(0) * D);
    gpsimd::Tcm<float> h(N), a(N), in(steps), dt(steps), b(N * steps), c(N * steps);
    gpsimd::Window<float> skips(skip, 16);
    for (size_t r = mine.begin; r < mine.end; ++r) {
        a.load(A, r % D * N, N);
        h.fill(0);
        for (size_t first = 0, n; first < L; first += n) {
            n = std::min(steps, L - first);
            in.load(u, r * L + first, n);
            dt.load(delta, r * L + first, n);
            for (size_t k = 0; k < N; ++k) {
                b.load(Bm, (r / D * N + k) * L + first, n, k * steps);
                c.load(Cm, (r / D * N + k) * L + first, n, k * steps);
            }
            for (size_t t = 0; t < n; ++t) {
                const float step = gpsimd::fast::softplus(dt[t]), push = step * in[t];
                float out = skips[r % D] * in[t];
                for (size_t k = 0; k < N; ++k) {
                    h[k] = h[k] * gpsimd::fast::exp(step * a[k]) + push * b[k * steps + t];
                    out += h[k] * c[k * steps + t];
                }
                dt[t] = out;
            }
            dt.store(y, r * L + first, n);
        }
    }
    return y;
}
