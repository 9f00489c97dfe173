// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::fast: sine and cosine, with the whole range of floats brought to an eighth of a turn. Unaware of tensors and of the
// device.
#pragma once

#include <gpsimd/fast_parts.hpp>

namespace gpsimd {
namespace fast {
namespace detail {

// 2 / pi, after one word of zeros.
template <typename Unused>
struct TwoOverPiOf {
    static const uint32_t word[8];
};
template <typename Unused>
const uint32_t TwoOverPiOf<Unused>::word[8] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                               0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

// |x| = (quadrant + r) * pi/2, |r| <= 1/2: |r| = m * 2^(e - 31), and twice |r| in Q32.
struct Angle {
    uint32_t quadrant, negative, m, twice;
    int e;
};
inline Angle angle(uint32_t magnitude) {
    const Parts p = parts(magnitude);
    if (magnitude < 0x3f490fdbu) {  // below pi/4
        const uint32_t m = high(p.m, 0xa2f9836eu);
        return {0, 0, m, p.e > -30 ? (m >> (-1 - p.e)) << 1 : 0, p.e};
    }
    // The product with the 96 bits of 2/pi that matter, modulo 4: two bits of whole quarter turns, 62 of fraction.
    const int at = p.e + 7, shift = at & 31;
    const uint32_t* const word = TwoOverPiOf<void>::word + (at >> 5);
    uint32_t w[3];
    for (int i = 0; i < 3; ++i) w[i] = shift == 0 ? word[i] : (word[i] << shift) | (word[i + 1] >> (32 - shift));
    const uint32_t m = p.m >> 8;
    const Wide middle = product(m, w[1]);
    const uint32_t lo = middle.lo + high(m, w[2]);
    const uint32_t hi = m * w[0] + middle.hi + (lo < middle.lo);
    const uint32_t quadrant = (hi + 0x20000000u) >> 30;
    uint32_t r_hi = (hi << 2) | (lo >> 30), r_lo = lo << 2;  // r in Q64, signed
    const uint32_t negative = r_hi >> 31;
    if (negative) {
        r_lo = 0u - r_lo;
        r_hi = ~r_hi + (r_lo == 0);
    }
    const uint32_t twice = r_hi >> 31 ? 0xffffffffu : r_hi << 1;
    if (r_hi == 0) return {quadrant, negative, r_lo, twice, -33};
    const int zeros = __builtin_clz(r_hi);
    return {quadrant, negative, zeros == 0 ? r_hi : (r_hi << zeros) | (r_lo >> (32 - zeros)), twice, -1 - zeros};
}
inline float sine_of(const Angle& a, uint32_t square, uint32_t sign) {
    const uint32_t factor = static_cast<uint32_t>(polynomial(tables::Sine::row[0], square));
    return compose(sign, high(a.m, factor << 1), a.e + 1);
}
inline float cosine_of(uint32_t square, uint32_t sign) {
    return compose(sign, static_cast<uint32_t>(polynomial(tables::Cosine::row[0], square)), 1);
}
const uint32_t kTinyAngle = 0x39000000u;  // 2^-13: sin x rounds to x, cos x to 1

}  // namespace detail

// Sine and cosine of one angle, in radians, of any size; NaN for infinities.
inline void sincos(float x, float& sine, float& cosine) {
    using namespace detail;
    const uint32_t u = bits(x), magnitude = u & ~kSign;
    if (magnitude >= kInfinity) {
        sine = cosine = of_bits(kNan);
        return;
    }
    if (magnitude < kTinyAngle) {
        sine = x;
        cosine = 1.0f;
        return;
    }
    const Angle a = angle(magnitude);
    const uint32_t square = high(a.twice, a.twice), q = a.quadrant;
    // sin(q pi/2 + s): s, c, -s, -c; cos: c, -s, -c, s. The sine of r has the sign of r.
    const uint32_t r_sign = a.negative << 31;
    const float s = sine_of(a, square, r_sign), c = cosine_of(square, 0);
    const float of_sine = q & 1 ? c : s, of_cosine = q & 1 ? s : c;
    sine = of_bits(bits(of_sine) ^ (u & kSign) ^ (q & 2) << 30);
    cosine = of_bits(bits(of_cosine) ^ ((q + 1) & 2) << 30);
}

// Sine of an angle in radians, of any size.
inline float sin(float x) {
    using namespace detail;
    const uint32_t u = bits(x), magnitude = u & ~kSign;
    if (magnitude >= kInfinity) return of_bits(kNan);
    if (magnitude < kTinyAngle) return x;
    const Angle a = angle(magnitude);
    const uint32_t square = high(a.twice, a.twice), sign = (u & kSign) ^ (a.quadrant & 2) << 30;
    return a.quadrant & 1 ? cosine_of(square, sign) : sine_of(a, square, sign ^ a.negative << 31);
}

// Cosine of an angle in radians, of any size.
inline float cos(float x) {
    using namespace detail;
    const uint32_t magnitude = bits(x) & ~kSign;
    if (magnitude >= kInfinity) return of_bits(kNan);
    if (magnitude < kTinyAngle) return 1.0f;
    const Angle a = angle(magnitude);
    const uint32_t square = high(a.twice, a.twice), sign = ((a.quadrant + 1) & 2) << 30;
    return a.quadrant & 1 ? sine_of(a, square, sign ^ a.negative << 31) : cosine_of(square, sign);
}

}  // namespace fast
}  // namespace gpsimd
