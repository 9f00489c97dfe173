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
  /// An element of an accessor (ATen/core/TensorAccessor.h), which converts to float, too.
  template <bool read_only>
  inline BFloat16(const at::TensorElementReference<BFloat16, read_only>& element) : x(element.operator BFloat16().x) {}
  /// Rounds to nearest, ties to even.
  inline BFloat16(float value) : x(detail::round_to_nearest_even(value)) {}
  /// Exact.
  inline operator float() const { return detail::f32_from_bits(x); }
};

C10_FLOAT16_OPERATORS_(BFloat16)

static_assert(sizeof(BFloat16) == 2, "BFloat16 is stored in 16 bits");

} // namespace c10
