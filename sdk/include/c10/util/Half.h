// SPDX-License-Identifier: Apache-2.0
//
// c10::Half: IEEE-754 binary16 storage, arithmetic by way of float. Facts: spec device-runtime.md §16.
// Integer arithmetic only, because the core has no scalar floating-point unit.
#pragma once

#include <c10/util/Float16Ops.h>

namespace c10 {
namespace detail {

/// Rounds a float to binary16: nearest, ties to even. Overflow gives infinity, every NaN gives 0x7e00 with
/// the sign kept.
inline uint16_t fp16_ieee_from_fp32_value(float value) {
  const uint32_t bits = fp32_to_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u);
  // 65520 is halfway between the largest half and the next step; ties-to-even carries it to infinity.
  if (magnitude >= 0x477ff000u)
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude >= 0x38800000u) {
    // Normal: rebias the exponent from 127 to 15. A carry out of the mantissa is the next exponent.
    const uint32_t odd = (magnitude >> 13) & 1u;
    return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }
  // Half of the smallest subnormal (2^-25) is a tie with zero, and zero is even.
  if (magnitude <= 0x33000000u)
    return static_cast<uint16_t>(sign);
  // Subnormal: the result counts units of 2^-24.
  const uint32_t shift = 126u - (magnitude >> 23);
  const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t quotient = significand >> shift;
  const uint32_t rest = significand & ((1u << shift) - 1u);
  const uint32_t half = 1u << (shift - 1u);
  const uint32_t up = rest > half || (rest == half && (quotient & 1u));
  return static_cast<uint16_t>(sign | (quotient + up));
}

/// Widens binary16 to float: exact; a signalling NaN becomes quiet with its payload kept.
inline float fp16_ieee_to_fp32_value(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1fu)
    return fp32_from_bits(sign | 0x7f800000u | (mantissa << 13) | (mantissa ? 0x400000u : 0u));
  if (exponent)
    return fp32_from_bits(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  if (!mantissa)
    return fp32_from_bits(sign);
  uint32_t biased = 113u;
  while (!(mantissa & 0x400u)) {
    mantissa <<= 1;
    --biased;
  }
  return fp32_from_bits(sign | (biased << 23) | ((mantissa & 0x3ffu) << 13));
}

} // namespace detail

/// An IEEE-754 binary16 number (also `at::Half`, `torch::Half`).
struct alignas(2) Half {
  /// The encoding.
  uint16_t x;

  /// Tag of the constructor that takes an encoding instead of a value.
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return from_bits_t(); }

  Half() = default;
  constexpr Half(uint16_t bits, from_bits_t) : x(bits) {}
  /// An element of an accessor (ATen/core/TensorAccessor.h), which converts to float, too.
  template <bool read_only>
  inline Half(const at::TensorElementReference<Half, read_only>& element) : x(element.operator Half().x) {}
  /// Rounds to nearest, ties to even.
  inline Half(float value) : x(detail::fp16_ieee_from_fp32_value(value)) {}
  /// Exact.
  inline operator float() const { return detail::fp16_ieee_to_fp32_value(x); }
};

C10_FLOAT16_OPERATORS_(Half)

static_assert(sizeof(Half) == 2, "Half is stored in 16 bits");

} // namespace c10
