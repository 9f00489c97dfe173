// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::fast: elementary functions of float in integer arithmetic. A core without floating-point hardware spends about 50
// instructions on one addition and 1,000 on expf; these take 60 to 200. The bounds in the comments hold for every float:
// sdk/tests/kit/fast_exhaustive.cpp tries all 2^32 of them. Subnormals, infinities and NaN are handled.
//
// Plain C++14, unaware of tensors and of the device: the same code compiles on any machine with 8-bit bytes, arithmetic right
// shifts and IEEE floats. An "ulp" is one unit in the last place of the correct result.
#pragma once

#include <gpsimd/fast_tables.hpp>

#include <stdint.h>
#include <string.h>

namespace gpsimd {
namespace fast {
namespace detail {

#define GPSIMD_KIT_INLINE inline __attribute__((always_inline))

GPSIMD_KIT_INLINE uint32_t bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
GPSIMD_KIT_INLINE float from_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

const uint32_t kSign = 0x80000000u, kInfinity = 0x7f800000u, kNan = 0x7fc00000u, kOne = 0x3f800000u;

// The high word of a * b, up to 2 too small: ten instructions on a core whose widest product has 32 bits.
GPSIMD_KIT_INLINE uint32_t high(uint32_t a, uint32_t b) {
    const uint32_t ah = a >> 16, al = a & 0xffff, bh = b >> 16, bl = b & 0xffff;
    return ah * bh + ((ah * bl) >> 16) + ((al * bh) >> 16);
}
// The same for a signed factor: c * t / 2^32.
GPSIMD_KIT_INLINE int32_t high_signed(int32_t c, uint32_t t) {
    const int32_t ch = c >> 16, th = static_cast<int32_t>(t >> 16), tl = static_cast<int32_t>(t & 0xffff);
    const uint32_t cl = static_cast<uint32_t>(c) & 0xffff;
    return ch * th + ((ch * tl) >> 16) + static_cast<int32_t>((cl * static_cast<uint32_t>(th)) >> 16);
}
// All 64 bits of a * b.
struct Wide {
    uint32_t hi, lo;
};
GPSIMD_KIT_INLINE Wide product(uint32_t a, uint32_t b) {
    const uint32_t ah = a >> 16, al = a & 0xffff, bh = b >> 16, bl = b & 0xffff;
    const uint32_t low = al * bl, first = ah * bl, second = al * bh;
    const uint32_t middle = (low >> 16) + (first & 0xffff) + (second & 0xffff);
    return {ah * bh + (first >> 16) + (second >> 16) + (middle >> 16), (middle << 16) | (low & 0xffff)};
}

// c[0] + c[1] t + ... for t in [0, 1) as Q32, in the scale of the coefficients.
template <int Columns>
struct Horner {
    static GPSIMD_KIT_INLINE int32_t at(const int32_t* c, uint32_t t) {
        return c[0] + high_signed(Horner<Columns - 1>::at(c + 1, t), t);
    }
};
template <>
struct Horner<1> {
    static GPSIMD_KIT_INLINE int32_t at(const int32_t* c, uint32_t) { return c[0]; }
};
template <int Columns>
GPSIMD_KIT_INLINE int32_t polynomial(const int32_t (&c)[Columns], uint32_t t) {
    return Horner<Columns>::at(c, t);
}

// A float apart: |x| = m * 2^(e - 31), the top bit of m set (x is not zero, infinite or NaN).
struct Parts {
    uint32_t m;
    int e;
};
GPSIMD_KIT_INLINE Parts parts(uint32_t magnitude) {
    const int e = static_cast<int>(magnitude >> 23);
    if (__builtin_expect(e == 0, 0)) {
        const int zeros = __builtin_clz(magnitude);
        return {magnitude << zeros, -118 - zeros};
    }
    return {(magnitude << 8) | kSign, e - 127};
}

// m * 2^(e - 31) with this sign, rounded to the nearest float, ties up; m is not zero, and e is within a few hundred.
inline float compose(uint32_t sign, uint32_t m, int e) {
    const int zeros = __builtin_clz(m);
    m <<= zeros;
    const int biased = e - zeros + 126;  // one less than the exponent field: the top bit of m adds it
    if (__builtin_expect(biased >= 0, 1)) {
        if (biased >= 254) return from_bits(sign | kInfinity);
        return from_bits(sign | ((static_cast<uint32_t>(biased) << 23) + (m >> 8) + ((m >> 7) & 1)));
    }
    const int shift = 7 - biased;  // how many bits a subnormal keeps short of m, less one
    if (shift > 31) return from_bits(sign);
    return from_bits(sign | (((m >> shift) + 1) >> 1));
}

// 2^f in Q31, f in Q32: 1 to 2, less a few units.
GPSIMD_KIT_INLINE uint32_t exp2_of_fraction(uint32_t f) {
    const uint32_t y = kSign + static_cast<uint32_t>(polynomial(tables::Exp2::row[f >> 28], f << 4));
    return y < kSign >> 1 ? 0xffffffffu : y;  // just below 2 the polynomial may reach it
}

// The whole and the fraction (Q32) of v * 2^(e - 62), for -34 < e < 30.
struct Split {
    int whole;
    uint32_t fraction;
};
GPSIMD_KIT_INLINE Split split(Wide v, int e) {
    const int left = e + 2;
    if (left > 0) return {static_cast<int>(v.hi >> (32 - left)), (v.hi << left) | (v.lo >> (32 - left))};
    return {0, v.hi >> -left};
}

const uint32_t kLog2E = 3098164009u;  // 1 / ln 2 in Q31

// exp(x) = m * 2^(e - 31) for |x| = p.m * 2^(p.e - 31), -27 < p.e < 8.
GPSIMD_KIT_INLINE Parts exp_parts(Parts p, bool negative) {
    const Split log2 = split(product(p.m, kLog2E), p.e);
    if (!negative) return {exp2_of_fraction(log2.fraction), log2.whole};
    return {exp2_of_fraction(0u - log2.fraction), -log2.whole - (log2.fraction != 0)};
}

// 1 / d in Q31 for d in [1, 2) as Q31.
GPSIMD_KIT_INLINE uint32_t reciprocal(uint32_t d) {
    return static_cast<uint32_t>(polynomial(tables::Reciprocal::row[(d >> 27) & 15], d << 5)) << 1;
}

// m * 2^e2 as Q31, for 2^e2 <= 1.
GPSIMD_KIT_INLINE uint32_t scaled(uint32_t m, int e) { return e > -32 ? m >> -e : 0; }

}  // namespace detail

// A key that orders floats as integers do: key(a) < key(b) where a < b. Three instructions instead of a call of about 25.
// -0 comes before 0; NaN comes after infinity or, with its sign set, before -infinity.
GPSIMD_KIT_INLINE int32_t key_of_bits(int32_t bits) {
    return bits ^ static_cast<int32_t>(static_cast<uint32_t>(bits >> 31) >> 1);
}
GPSIMD_KIT_INLINE int32_t key(float x) { return key_of_bits(static_cast<int32_t>(detail::bits(x))); }
// The float of a key.
GPSIMD_KIT_INLINE float of_key(int32_t k) {
    return detail::from_bits(static_cast<uint32_t>(k ^ static_cast<int32_t>(static_cast<uint32_t>(k >> 31) >> 1)));
}
// The larger and the smaller of two numbers, by key: not for NaN.
GPSIMD_KIT_INLINE float max(float a, float b) { return key(a) < key(b) ? b : a; }
GPSIMD_KIT_INLINE float min(float a, float b) { return key(b) < key(a) ? b : a; }

// The nearest integer, ties to even; beyond the range of int32 its nearest end; 0 for NaN.
inline int32_t round_to_int(float x) {
    const uint32_t u = detail::bits(x), magnitude = u & ~detail::kSign;
    const int e = static_cast<int>(magnitude >> 23) - 127;
    if (e >= 31) return magnitude > detail::kInfinity ? 0 : u >> 31 ? INT32_MIN : INT32_MAX;
    if (e < -1) return 0;
    const uint32_t m = (magnitude << 8) | detail::kSign;  // |x| = m * 2^(e - 31)
    const uint32_t whole = e < 0 ? 0 : m >> (31 - e), rest = m << (e + 1);
    const uint32_t n = whole + (e < 0 ? m > detail::kSign : rest > detail::kSign || (rest == detail::kSign && (whole & 1)));
    return static_cast<int32_t>(u >> 31 ? 0u - n : n);
}

// The largest integer not above x; beyond the range of int32 its nearest end; 0 for NaN.
inline int32_t floor_to_int(float x) {
    const uint32_t u = detail::bits(x), magnitude = u & ~detail::kSign;
    const int e = static_cast<int>(magnitude >> 23) - 127;
    if (e >= 31) return magnitude > detail::kInfinity ? 0 : u >> 31 ? INT32_MIN : INT32_MAX;
    if (e < 0) return u >> 31 && magnitude != 0 ? -1 : 0;
    const uint32_t m = (magnitude << 8) | detail::kSign;
    const uint32_t whole = m >> (31 - e), rest = m << (e + 1);
    return static_cast<int32_t>(u >> 31 ? 0u - whole - (e < 31 && rest != 0) : whole);
}

// e^x.
inline float exp(float x) {
    using namespace detail;
    const uint32_t u = bits(x), magnitude = u & ~kSign;
    const int e = static_cast<int>(magnitude >> 23) - 127;
    if (e < -26) return 1.0f;
    if (e > 6) return magnitude > kInfinity ? x : from_bits(u >> 31 ? 0 : kInfinity);
    const Parts y = exp_parts({(magnitude << 8) | kSign, e}, u >> 31);
    return compose(0, y.m, y.e);
}

// Natural logarithm; -infinity for 0, NaN below it.
inline float log(float x) {
    using namespace detail;
    const uint32_t u = bits(x);
    if (u - 1 >= kInfinity - 1) {  // 0, negative, infinite or NaN
        if ((u & ~kSign) == 0) return from_bits(kSign | kInfinity);
        return u == kInfinity || (u & ~kSign) > kInfinity ? x : from_bits(kNan);
    }
    if (u - 0x3f600000u < 0x3f900000u - 0x3f600000u) {  // 7/8 <= x < 9/8: relative to x - 1
        if (u == kOne) return 0.0f;
        const bool below = u < kOne;
        const uint32_t distance = below ? (kOne - u) << 7 : (u - kOne) << 8;  // |x - 1| in Q31
        const uint32_t shifted = ((below ? 0u - distance : distance) + 0x10000000u) << 3;  // (x - 7/8) * 4 in Q32
        const uint32_t factor = static_cast<uint32_t>(polynomial(tables::LogNearOne::row[shifted >> 29], shifted << 3));
        const int zeros = __builtin_clz(distance);
        return compose(below ? kSign : 0, high(distance << zeros, factor << 1), 1 - zeros);
    }
    const Parts p = parts(u);
    const uint32_t fraction = p.m << 1;
    const int32_t(&c)[4] = tables::Log::row[fraction >> 27];
    const uint32_t t = fraction << 5;
    const int32_t rise = high_signed(c[1] + high_signed(c[2] + high_signed(c[3], t), t), t);  // Q36
    const uint32_t of_m = static_cast<uint32_t>(c[0]) + static_cast<uint32_t>(rise >> 4);      // Q32
    // e * ln 2 in Q32, by halves of the constant: no 64-bit product.
    const int64_t sum = (static_cast<int64_t>(p.e * 0xb172) << 16) + p.e * 0x17f8 + static_cast<int64_t>(of_m);
    const uint32_t sign = sum < 0 ? kSign : 0;
    const uint64_t magnitude = static_cast<uint64_t>(sum < 0 ? -sum : sum);
    const uint32_t hi = static_cast<uint32_t>(magnitude >> 32), lo = static_cast<uint32_t>(magnitude);
    if (hi == 0) return compose(sign, lo, -1);
    const int zeros = __builtin_clz(hi);
    return compose(sign, zeros == 0 ? hi : (hi << zeros) | (lo >> (32 - zeros)), 31 - zeros);
}

namespace detail {
// 1 / (1 + e^-x) = m * 2^(e - 31) for |x| = p.m * 2^(p.e - 31), -27 < p.e < 8.
GPSIMD_KIT_INLINE Parts sigmoid_parts(Parts p, bool negative) {
    const Parts y = exp_parts(p, true);  // e^-|x|, below 1
    const uint32_t inverse = reciprocal(kSign + scaled(y.m, y.e));
    return negative ? Parts{high(y.m, inverse), y.e + 1} : Parts{inverse, 0};
}
}  // namespace detail

// 1 / (1 + e^-x).
inline float sigmoid(float x) {
    using namespace detail;
    const uint32_t u = bits(x), magnitude = u & ~kSign;
    const int e = static_cast<int>(magnitude >> 23) - 127;
    if (e < -26) return 0.5f;
    if (e > 6) return magnitude > kInfinity ? x : u >> 31 ? 0.0f : 1.0f;
    const Parts y = sigmoid_parts({(magnitude << 8) | kSign, e}, u >> 31);
    return compose(0, y.m, y.e);
}

// x / (1 + e^-x), also called swish; NaN for -infinity.
inline float silu(float x) {
    using namespace detail;
    const uint32_t u = bits(x), magnitude = u & ~kSign;
    const int e = static_cast<int>(magnitude >> 23) - 127;
    if (e < -26) return x * 0.5f;
    if (e > 6) return magnitude > kInfinity || !(u >> 31) ? x : from_bits(magnitude == kInfinity ? kNan : kSign);
    const uint32_t m = (magnitude << 8) | kSign;
    const Parts y = sigmoid_parts({m, e}, u >> 31);
    return compose(u & kSign, high(y.m, m), y.e + e + 1);
}

// ln(1 + e^x).
inline float softplus(float x) {
    using namespace detail;
    const uint32_t u = bits(x), magnitude = u & ~kSign;
    const int e = static_cast<int>(magnitude >> 23) - 127;
    if (e > 6) return magnitude > kInfinity || !(u >> 31) ? x : 0.0f;
    const Parts y = e < -26 ? Parts{kSign, 0} : exp_parts({(magnitude << 8) | kSign, e}, true);
    const uint32_t small = scaled(y.m, y.e);  // e^-|x| in Q31, at most 1
    const uint32_t at = small >= kSign ? 0xffffffffu : small << 1;
    const uint32_t factor = static_cast<uint32_t>(polynomial(tables::Log1p::row[at >> 28], at << 4));
    const float rest = compose(0, high(y.m, factor), y.e + 2);
    return u >> 31 ? rest : x + rest;
}

// Hyperbolic tangent.
inline float tanh(float x) {
    using namespace detail;
    const uint32_t u = bits(x), sign = u & kSign, magnitude = u & ~kSign;
    if (magnitude >= 0x41102cb4u) return magnitude > kInfinity ? x : from_bits(sign | kOne);  // from 9.0109: 1
    if (magnitude >= 0x3e800000u) {
        const uint32_t at = magnitude - 0x3e800000u;
        const uint32_t y = static_cast<uint32_t>(polynomial(tables::Tanh::row[at >> 20], at << 12));
        return compose(sign, y, 1);
    }
    if (magnitude < 0x39000000u) return x;  // below 2^-13
    const Parts p = parts(magnitude);
    const uint32_t square = high(p.m, p.m) >> (2 * (-3 - p.e));  // 16 x^2 in Q32
    const uint32_t less = static_cast<uint32_t>(polynomial(tables::TanhSmall::row[0], square));
    return compose(sign, p.m - high(p.m, less), p.e);
}

// The error function.
inline float erf(float x) {
    using namespace detail;
    const uint32_t u = bits(x), sign = u & kSign, magnitude = u & ~kSign;
    if (magnitude >= 0x40800000u) return magnitude > kInfinity ? x : from_bits(sign | kOne);  // from 4: 1
    if (magnitude >= 0x3f000000u) {
        const uint32_t at = magnitude - 0x3f000000u;
        return compose(sign, static_cast<uint32_t>(polynomial(tables::Erf::row[at >> 19], at << 13)), 1);
    }
    if (magnitude == 0) return x;
    const Parts p = parts(magnitude);
    const int shift = 2 * (-2 - p.e);
    const uint32_t square = shift < 32 ? high(p.m, p.m) >> shift : 0;  // 4 x^2 in Q32
    const uint32_t factor = static_cast<uint32_t>(polynomial(tables::ErfSmall::row[0], square));
    return compose(sign, high(p.m, factor << 1), p.e + 1);
}

// x P(X <= x) for a normal X: GELU in its exact form.
inline float gelu(float x) {
    using namespace detail;
    const uint32_t u = bits(x), magnitude = u & ~kSign;
    if (magnitude == 0) return x;
    if (magnitude >= 0x41800000u) return magnitude > kInfinity ? x : u >> 31 ? -0.0f : x;  // from 16
    const Parts p = parts(magnitude);
    float rest;  // |x| P(X > |x|)
    if (magnitude < 0x3e800000u) {
        const uint32_t t = p.e > -29 ? p.m >> (-3 - p.e) : 0;  // 4 |x| in Q32
        rest = compose(0, high(p.m, static_cast<uint32_t>(polynomial(tables::TailSmall::row[0], t)) << 1), p.e);
    } else {
        const Wide square = product(p.m, p.m);  // x^2 = square * 2^(2 p.e - 62)
        Wide log2 = product(square.hi, kLog2E);
        const uint32_t low = log2.lo + high(square.lo, kLog2E);
        log2.hi += low < log2.lo;
        log2.lo = low;
        const Split power = split(log2, 2 * p.e);  // x^2 / 2 / ln 2
        const uint32_t at = magnitude - 0x3e800000u;
        const uint32_t slow = static_cast<uint32_t>(polynomial(tables::Tail::row[at >> 21], at << 11));
        rest = compose(0, high(exp2_of_fraction(0u - power.fraction), slow), 1 - power.whole - (power.fraction != 0));
    }
    return u >> 31 ? -rest : x - rest;
}

// 1 / sqrt(x); infinity for 0, NaN below it.
inline float rsqrt(float x) {
    using namespace detail;
    const uint32_t u = bits(x);
    if (u - 1 >= kInfinity - 1) {
        if ((u & ~kSign) == 0) return from_bits(u | kInfinity);
        return u == kInfinity ? 0.0f : (u & ~kSign) > kInfinity ? x : from_bits(kNan);
    }
    const Parts p = parts(u);
    const int odd = p.e & 1;
    const uint32_t fraction = p.m << 1;
    const int32_t y = polynomial(tables::ReciprocalRoot::row[odd * 16 + (fraction >> 28)], fraction << 4);
    return compose(0, static_cast<uint32_t>(y), 1 - ((p.e - odd) >> 1));
}

// Square root; NaN below 0.
inline float sqrt(float x) {
    using namespace detail;
    const uint32_t u = bits(x);
    if (u - 1 >= kInfinity - 1) return (u & ~kSign) == 0 || u == kInfinity || (u & ~kSign) > kInfinity ? x : from_bits(kNan);
    const Parts p = parts(u);
    const int odd = p.e & 1;
    const uint32_t fraction = p.m << 1;
    const int32_t y = polynomial(tables::ReciprocalRoot::row[odd * 16 + (fraction >> 28)], fraction << 4);
    return compose(0, high(p.m, static_cast<uint32_t>(y) << 1), 1 + odd + ((p.e - odd) >> 1));
}

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
        sine = cosine = from_bits(kNan);
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
    sine = from_bits(bits(of_sine) ^ (u & kSign) ^ (q & 2) << 30);
    cosine = from_bits(bits(of_cosine) ^ ((q + 1) & 2) << 30);
}

// Sine of an angle in radians, of any size.
inline float sin(float x) {
    using namespace detail;
    const uint32_t u = bits(x), magnitude = u & ~kSign;
    if (magnitude >= kInfinity) return from_bits(kNan);
    if (magnitude < kTinyAngle) return x;
    const Angle a = angle(magnitude);
    const uint32_t square = high(a.twice, a.twice), sign = (u & kSign) ^ (a.quadrant & 2) << 30;
    return a.quadrant & 1 ? cosine_of(square, sign) : sine_of(a, square, sign ^ a.negative << 31);
}

// Cosine of an angle in radians, of any size.
inline float cos(float x) {
    using namespace detail;
    const uint32_t magnitude = bits(x) & ~kSign;
    if (magnitude >= kInfinity) return from_bits(kNan);
    if (magnitude < kTinyAngle) return 1.0f;
    const Angle a = angle(magnitude);
    const uint32_t square = high(a.twice, a.twice), sign = ((a.quadrant + 1) & 2) << 30;
    return a.quadrant & 1 ? sine_of(a, square, sign ^ a.negative << 31) : cosine_of(square, sign);
}

// Division of unsigned integers by a number that stays: about 25 instructions where the core has no divider. Exact.
class Divisor {
 public:
    // `d` is not 0.
    explicit Divisor(uint32_t d) : d_(d), inverse_(0xffffffffu / d) {}
    uint32_t quotient(uint32_t n) const {
        uint32_t q = detail::high(n, inverse_);
        uint32_t rest = n - q * d_;
        while (rest >= d_) {
            ++q;
            rest -= d_;
        }
        return q;
    }
    uint32_t remainder(uint32_t n) const { return n - quotient(n) * d_; }

 private:
    uint32_t d_, inverse_;
};

// Division of floats by a number that stays: x / d, correctly rounded, without the division.
class FloatDivisor {
 public:
    explicit FloatDivisor(float d) : d_(d) {
        const uint32_t u = detail::bits(d), magnitude = u & ~detail::kSign;
        sign_ = u & detail::kSign;
        usual_ = magnitude >= 0x00800000u && magnitude < detail::kInfinity;
        m_ = (magnitude & 0x007fffffu) | 0x00800000u;
        e_ = static_cast<int>(magnitude >> 23);
        // 2^55 / m in two steps of a 32-bit division would do; this runs once.
        inverse_ = usual_ ? static_cast<uint32_t>(((1ull << 55) - 1) / m_) : 0;
    }
    float operator()(float x) const {
        using namespace detail;
        const uint32_t u = bits(x), magnitude = u & ~kSign;
        const int top = static_cast<int>(magnitude >> 23);
        uint32_t n = (magnitude & 0x007fffffu) | 0x00800000u;
        int e = top - e_ + 127;  // exponent field of x / d, for n >= m_
        int shift = 23;
        if (n < m_) {
            --e;
            shift = 24;
        }
        if (!usual_ || top == 0 || top == 255 || e <= 0 || e >= 255) return x / d_;
        // q = n * 2^shift / m, 24 bits, by the inverse: at most a few too small; the rest says exactly how many.
        uint32_t q = high(n << 8, inverse_) >> (31 - shift);
        uint32_t rest = (n << shift) - q * m_;
        while (rest >= m_) {
            ++q;
            rest -= m_;
        }
        const uint32_t twice = rest << 1;
        q += twice > m_ || (twice == m_ && (q & 1));
        return from_bits(((u & kSign) ^ sign_) | ((static_cast<uint32_t>(e - 1) << 23) + q));
    }

 private:
    float d_;
    uint32_t sign_, m_, inverse_;
    int e_;
    bool usual_;
};

}  // namespace fast
}  // namespace gpsimd
