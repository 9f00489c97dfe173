// SPDX-License-Identifier: Apache-2.0
//
// c10::BFloat16: the upper half of a float, arithmetic by way of float. Facts: spec device-runtime.md §16.
#pragma once

#include <c10/util/Float16Ops.h>

namespace c10 {
namespace detail {

/// Rounds a float to bfloat16: nearest, ties to even. Every NaN gives 0x7fc0, as c10 has it.
inline uint16_t round_to_nearest_even(float value) {
  const uint32_t bits = fp32_to_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return 0x7fc0u;
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// Widens bfloat16 to float: exact, all bits kept.
inline float f32_from_bits(uint16_t bits) { return fp32_from_bits(static_cast<uint32_t>(bits) << 16); }

} // namespace detail

/// A bfloat16 number (also `at::BFloat16`, `torch::BFloat16`): float's exponent range with 8 significant bits.
struct alignas(2) BFloat16 {
  /// The encoding.
  uint16_t x;

  /// Tag of the constructor that takes an encoding instead of a value.
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return from_bits_t(); }

  BFloat16() = default;
  constexpr BFloat16(uint16_t bits, from_bits_t) : x(bits) {}
  /// Rounds to nearest, ties to even.
  inline BFloat16(float value) : x(detail::round_to_nearest_even(value)) {}
  /// Exact.
  inline operator float() const { return detail::f32_from_bits(x); }
};

C10_FLOAT16_OPERATORS_(BFloat16)

static_assert(sizeof(BFloat16) == 2, "BFloat16 is stored in 16 bits");

} // namespace c10

namespace std {

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
