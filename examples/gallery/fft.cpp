// SPDX-License-Identifier: Apache-2.0
//
// fft: discrete Fourier transform of every row of x [rows, N, 2] (real, imaginary), N a power of two up to 1,024.
//
// Schema: my::fft(Tensor x) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor fft(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t N = x.size(1);
    GPSIMD_REQUIRE(N <= 1024 && (N & (N - 1)) == 0, "fft: N must be a power of two up to 1,024");
    gpsimd::Tcm<float> turn(N);  // e^(-2 pi i k / N), k < N/2
    for (size_t i = 0; i < N / 2; ++i) gpsimd::fast::sincos(-6.28318531f / N * i, turn[2 * i + 1], turn[2 * i]);
    gpsimd::rows<float>(x, y, 2 * N, [&](size_t, float* v) {
        for (size_t i = 1, j = 0; i < N; ++i) {  // into the order of reversed bits
            size_t bit = N >> 1;
            for (; j & bit; bit >>= 1) j ^= bit;
            j ^= bit;
            if (i < j) std::swap(v[2 * i], v[2 * j]), std::swap(v[2 * i + 1], v[2 * j + 1]);
        }
        for (size_t half = 1; half < N; half *= 2)
            for (size_t k = 0; k < half; ++k) {
                const float c = turn[k * N / half], s = turn[k * N / half + 1];
                for (float *p = v + 2 * k, *end = v + 2 * N; p < end; p += 4 * half) {
                    float* const q = p + 2 * half;
                    const float re = k ? q[0] * c - q[1] * s : q[0], im = k ? q[0] * s + q[1] * c : q[1];
                    q[0] = p[0] - re, q[1] = p[1] - im, p[0] += re, p[1] += im;
                }
            }
    });
    return y;
}
