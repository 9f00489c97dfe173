// SPDX-License-Identifier: Apache-2.0
//
// std::numeric_limits of the 16-bit float types. Reached through <limits>, see there.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

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

namespace std {

template <>
class numeric_limits<c10::Half> {
  static constexpr c10::Half bits(uint16_t b) { return c10::Half(b, c10::Half::from_bits()); }

public:
  C10_FLOAT16_LIMITS_COMMON_
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;
  static constexpr c10::Half min() { return bits(0x0400); }
  static constexpr c10::Half lowest() { return bits(0xfbff); }
  static constexpr c10::Half max() { return bits(0x7bff); }
  static constexpr c10::Half epsilon() { return bits(0x1400); }
  static constexpr c10::Half round_error() { return bits(0x3800); }
  static constexpr c10::Half infinity() { return bits(0x7c00); }
  static constexpr c10::Half quiet_NaN() { return bits(0x7e00); }
  static constexpr c10::Half signaling_NaN() { return bits(0x7d00); }
  static constexpr c10::Half denorm_min() { return bits(0x0001); }
};

template <>
class numeric_limits<c10::BFloat16> {
  static constexpr c10::BFloat16 bits(uint16_t b) { return c10::BFloat16(b, c10::BFloat16::from_bits()); }

public:
  C10_FLOAT16_LIMITS_COMMON_
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr int min_exponent = -125;
  static constexpr int min_exponent10 = -37;
  static constexpr int max_exponent = 128;
  static constexpr int max_exponent10 = 38;
  static constexpr c10::BFloat16 min() { return bits(0x0080); }
  static constexpr c10::BFloat16 lowest() { return bits(0xff7f); }
  static constexpr c10::BFloat16 max() { return bits(0x7f7f); }
  static constexpr c10::BFloat16 epsilon() { return bits(0x3c00); }
  static constexpr c10::BFloat16 round_error() { return bits(0x3f00); }
  static constexpr c10::BFloat16 infinity() { return bits(0x7f80); }
  static constexpr c10::BFloat16 quiet_NaN() { return bits(0x7fc0); }
  static constexpr c10::BFloat16 signaling_NaN() { return bits(0x7f81); }
  static constexpr c10::BFloat16 denorm_min() { return bits(0x0001); }
};

} // namespace std

#undef C10_FLOAT16_LIMITS_COMMON_
