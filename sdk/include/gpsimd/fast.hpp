// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::fast: elementary functions of float in integer arithmetic. A core without floating-point hardware spends about 50
// instructions on one addition and 1,000 on expf; these take 60 to 200. The bounds in the comments hold for every float:
// sdk/tests/kit/fast_exhaustive.cpp tries all 2^32 of them. Subnormals, infinities and NaN are handled.
//
// Plain C++14, unaware of tensors and of the device: the same code compiles on any machine with 8-bit bytes, arithmetic right
// shifts and IEEE floats. An "ulp" is one unit in the last place of the correct result.
#pragma once

#include <gpsimd/fast_angles.hpp>
#include <gpsimd/fast_integers.hpp>
#include <gpsimd/fast_parts.hpp>

namespace gpsimd {
namespace fast {

// e^x.
inline float exp(float x) {
    using namespace detail;
    const uint32_t u = bits(x), magnitude = u & ~kSign;
    const int e = static_cast<int>(magnitude >> 23) - 127;
    if (e < -26) return 1.0f;
    if (e > 6) return magnitude > kInfinity ? x : of_bits(u >> 31 ? 0 : kInfinity);
    const Parts y = exp_parts({(magnitude << 8) | kSign, e}, u >> 31);
    return compose(0, y.m, y.e);
}

// Natural logarithm; -infinity for 0, NaN below it.
inline float log(float x) {
    using namespace detail;
    const uint32_t u = bits(x);
    if (u - 1 >= kInfinity - 1) {  // 0, negative, infinite or NaN
        if ((u & ~kSign) == 0) return of_bits(kSign | kInfinity);
        return u == kInfinity || (u & ~kSign) > kInfinity ? x : of_bits(kNan);
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
    if (e > 6) return magnitude > kInfinity || !(u >> 31) ? x : of_bits(magnitude == kInfinity ? kNan : kSign);
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
    if (magnitude >= 0x41102cb4u) return magnitude > kInfinity ? x : of_bits(sign | kOne);  // from 9.0109: 1
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
    if (magnitude >= 0x40800000u) return magnitude > kInfinity ? x : of_bits(sign | kOne);  // from 4: 1
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
        if ((u & ~kSign) == 0) return of_bits(u | kInfinity);
        return u == kInfinity ? 0.0f : (u & ~kSign) > kInfinity ? x : of_bits(kNan);
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
    if (u - 1 >= kInfinity - 1) return (u & ~kSign) == 0 || u == kInfinity || (u & ~kSign) > kInfinity ? x : of_bits(kNan);
    const Parts p = parts(u);
    const int odd = p.e & 1;
    const uint32_t fraction = p.m << 1;
    const int32_t y = polynomial(tables::ReciprocalRoot::row[odd * 16 + (fraction >> 28)], fraction << 4);
    return compose(0, high(p.m, static_cast<uint32_t>(y) << 1), 1 + odd + ((p.e - odd) >> 1));
}

}  // namespace fast
}  // namespace gpsimd
