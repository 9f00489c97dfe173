// SPDX-License-Identifier: Apache-2.0
//
// What the functions of gpsimd::fast are made of: floats taken apart and put together, products of words, polynomials.
//
// Plain C++14, unaware of tensors, of the device and of the functions: the same code compiles on any machine with 8-bit bytes,
// arithmetic right shifts and IEEE floats.
#pragma once

#include <gpsimd/fast_tables.hpp>

#include <stdint.h>
#include <string.h>

namespace gpsimd {
namespace fast {

#define GPSIMD_KIT_INLINE inline __attribute__((always_inline))

// The bits of a float, and the float of bits: instructions on neither.
GPSIMD_KIT_INLINE uint32_t bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
GPSIMD_KIT_INLINE float of_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

namespace detail {

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
        if (biased >= 254) return of_bits(sign | kInfinity);
        return of_bits(sign | ((static_cast<uint32_t>(biased) << 23) + (m >> 8) + ((m >> 7) & 1)));
    }
    const int shift = 7 - biased;  // how many bits a subnormal keeps short of m, less one
    if (shift > 31) return of_bits(sign);
    return of_bits(sign | (((m >> shift) + 1) >> 1));
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

}  // namespace fast
}  // namespace gpsimd
