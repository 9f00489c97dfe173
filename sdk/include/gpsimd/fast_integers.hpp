// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::fast where floats meet integers: keys that order floats, rounding to integers, division by a number that stays. All
// exact. Unaware of tensors and of the device.
#pragma once

#include <gpsimd/fast_parts.hpp>

namespace gpsimd {
namespace fast {

// A key that orders floats as integers do: key(a) < key(b) where a < b. Three instructions instead of a call of about 25.
// -0 comes before 0; NaN comes after infinity or, with its sign set, before -infinity.
GPSIMD_KIT_INLINE int32_t key_of_bits(int32_t bits) {
    return bits ^ static_cast<int32_t>(static_cast<uint32_t>(bits >> 31) >> 1);
}
GPSIMD_KIT_INLINE int32_t key(float x) { return key_of_bits(static_cast<int32_t>(bits(x))); }
// The float of a key.
GPSIMD_KIT_INLINE float of_key(int32_t k) {
    return of_bits(static_cast<uint32_t>(k ^ static_cast<int32_t>(static_cast<uint32_t>(k >> 31) >> 1)));
}
// The larger and the smaller of two numbers, by key: not for NaN.
GPSIMD_KIT_INLINE float max(float a, float b) { return key(a) < key(b) ? b : a; }
GPSIMD_KIT_INLINE float min(float a, float b) { return key(b) < key(a) ? b : a; }

// The nearest integer, ties to even; beyond the range of int32 its nearest end; 0 for NaN.
inline int32_t round_to_int(float x) {
    const uint32_t u = bits(x), magnitude = u & ~detail::kSign;
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
    const uint32_t u = bits(x), magnitude = u & ~detail::kSign;
    const int e = static_cast<int>(magnitude >> 23) - 127;
    if (e >= 31) return magnitude > detail::kInfinity ? 0 : u >> 31 ? INT32_MIN : INT32_MAX;
    if (e < 0) return u >> 31 && magnitude != 0 ? -1 : 0;
    const uint32_t m = (magnitude << 8) | detail::kSign;
    const uint32_t whole = m >> (31 - e), rest = m << (e + 1);
    return static_cast<int32_t>(u >> 31 ? 0u - whole - (e < 31 && rest != 0) : whole);
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
        const uint32_t u = bits(d), magnitude = u & ~detail::kSign;
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
        return of_bits(((u & kSign) ^ sign_) | ((static_cast<uint32_t>(e - 1) << 23) + q));
    }

 private:
    float d_;
    uint32_t sign_, m_, inverse_;
    int e_;
    bool usual_;
};

}  // namespace fast
}  // namespace gpsimd
