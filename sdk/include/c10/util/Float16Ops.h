// SPDX-License-Identifier: Apache-2.0
//
// What Half and BFloat16 have in common: bit casts and the operators that both define by way of float.
// Unaware of either type's encoding; Half.h and BFloat16.h supply the conversions.
#pragma once

#include <stdint.h>

namespace at {
template <typename T, bool read_only>
class TensorElementReference;
}  // namespace at

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

// The result type of an operator between a 16-bit float and another number: overload resolution does the choosing.
template <typename Float16>
struct MixedResult {
  static float of(float);
  static double of(double);
  static Float16 of(int);
  static Float16 of(unsigned int);
  static Float16 of(long);
  static Float16 of(unsigned long);
  static Float16 of(long long);
  static Float16 of(unsigned long long);
};

template <typename Number>
const Number& any_number();

} // namespace detail
} // namespace c10

// Operators of a 16-bit float type, as c10 has them: two of the same type compute in float and round once; with a
// float or a double the wider type wins; with an integer the 16-bit type wins. Templates, because every kernel parses
// this and few use it.
#define C10_FLOAT16_OPERATOR_(Type, op)                                                                   \
  inline Type operator op(const Type& a, const Type& b) {                                                 \
    return Type(static_cast<float>(a) op static_cast<float>(b));                                          \
  }                                                                                                       \
  inline Type& operator op##=(Type& a, const Type& b) { return a = a op b; }                              \
  template <typename Number>                                                                              \
  auto operator op(const Type& a, const Number& b)                                                        \
      ->decltype(detail::MixedResult<Type>::of(detail::any_number<Number>())) {                           \
    typedef decltype(detail::MixedResult<Type>::of(b)) Result;                                            \
    return static_cast<Result>(static_cast<float>(a)) op static_cast<Result>(b);                          \
  }                                                                                                       \
  template <typename Number>                                                                              \
  auto operator op(const Number& a, const Type& b)                                                        \
      ->decltype(detail::MixedResult<Type>::of(detail::any_number<Number>())) {                           \
    typedef decltype(detail::MixedResult<Type>::of(a)) Result;                                            \
    return static_cast<Result>(a) op static_cast<Result>(static_cast<float>(b));                          \
  }

#define C10_FLOAT16_OPERATORS_(Type)  \
  C10_FLOAT16_OPERATOR_(Type, +)      \
  C10_FLOAT16_OPERATOR_(Type, -)      \
  C10_FLOAT16_OPERATOR_(Type, *)      \
  C10_FLOAT16_OPERATOR_(Type, /)      \
  inline Type operator-(const Type& a) { return Type(static_cast<uint16_t>(a.x ^ 0x8000u), Type::from_bits()); }
