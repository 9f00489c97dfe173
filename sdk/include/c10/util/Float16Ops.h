// SPDX-License-Identifier: Apache-2.0
//
// What Half and BFloat16 have in common: bit casts and the operators that both define by way of float.
// Unaware of either type's encoding; Half.h and BFloat16.h supply the conversions.
#pragma once

#include <limits>
#include <stdint.h>

namespace c10 {
namespace detail {

/// The IEEE-754 single-precision pattern of `value`.
inline uint32_t fp32_to_bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The float whose IEEE-754 pattern is `bits`.
inline float fp32_from_bits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

} // namespace detail
} // namespace c10

// Operators of a 16-bit float type, as c10 has them: two of the same type compute in float and round once;
// with a float or a double the wider type wins; with an integer the 16-bit type wins.
#define C10_FLOAT16_OPERATOR_(Type, op)                                                                    \
  inline Type operator op(const Type& a, const Type& b) {                                                  \
    return Type(static_cast<float>(a) op static_cast<float>(b));                                           \
  }                                                                                                        \
  inline Type& operator op##=(Type& a, const Type& b) { return a = a op b; }                               \
  inline float operator op(const Type& a, float b) { return static_cast<float>(a) op b; }                  \
  inline float operator op(float a, const Type& b) { return a op static_cast<float>(b); }                  \
  inline float& operator op##=(float& a, const Type& b) { return a = a op static_cast<float>(b); }         \
  inline double operator op(const Type& a, double b) { return static_cast<double>(static_cast<float>(a)) op b; } \
  inline double operator op(double a, const Type& b) { return a op static_cast<double>(static_cast<float>(b)); } \
  inline Type operator op(const Type& a, int b) { return a op Type(static_cast<float>(b)); }               \
  inline Type operator op(int a, const Type& b) { return Type(static_cast<float>(a)) op b; }               \
  inline Type operator op(const Type& a, int64_t b) { return a op Type(static_cast<float>(b)); }           \
  inline Type operator op(int64_t a, const Type& b) { return Type(static_cast<float>(a)) op b; }

#define C10_FLOAT16_OPERATORS_(Type)  \
  C10_FLOAT16_OPERATOR_(Type, +)      \
  C10_FLOAT16_OPERATOR_(Type, -)      \
  C10_FLOAT16_OPERATOR_(Type, *)      \
  C10_FLOAT16_OPERATOR_(Type, /)      \
  inline Type operator-(const Type& a) { return Type(static_cast<uint16_t>(a.x ^ 0x8000u), Type::from_bits()); }

// Limits that do not depend on the encoding; the rest is written out beside each type.
#define C10_FLOAT16_LIMITS_COMMON_                                     \
  static constexpr bool is_specialized = true;                         \
  static constexpr bool is_signed = true;                              \
  static constexpr bool is_integer = false;                            \
  static constexpr bool is_exact = false;                              \
  static constexpr bool has_infinity = true;                           \
  static constexpr bool has_quiet_NaN = true;                          \
  static constexpr bool has_signaling_NaN = true;                      \
  static constexpr float_denorm_style has_denorm = denorm_present;     \
  static constexpr bool has_denorm_loss = false;                       \
  static constexpr float_round_style round_style = round_to_nearest;   \
  static constexpr bool is_iec559 = false;                             \
  static constexpr bool is_bounded = true;                             \
  static constexpr bool is_modulo = false;                             \
  static constexpr int radix = 2;                                      \
  static constexpr bool traps = false;                                 \
  static constexpr bool tinyness_before = false;
