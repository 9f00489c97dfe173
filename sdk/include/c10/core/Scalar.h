// SPDX-License-Identifier: Apache-2.0
//
// c10::Scalar: one number of a kind that is known at run time. Facts: spec user-api.md §3, customop-abi.md §7.2.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

namespace c10 {
namespace detail {

[[noreturn]] void scalar_overflow(const char* type);

// The rule of c10's checked conversion: the value must be in range after truncation; a NaN or infinity has no integer
// value. `lowest` and `highest` are exact doubles; `highest` of a 64-bit target rounds up and is excluded.
inline int64_t integral_in_range(bool is_floating, double d, int64_t i, int64_t lowest, int64_t highest,
                                 const char* type) {
  if (is_floating) {
    if (!(d > -9223372036854775808.0 && d < 9223372036854775808.0))
      scalar_overflow(type);
    i = static_cast<int64_t>(d);
  }
  if (i < lowest || i > highest)
    scalar_overflow(type);
  return i;
}

} // namespace detail

/// A number: `double` if it was made from a floating-point value, `int64_t` if from an integer, else bool. Made
/// implicitly from any arithmetic value, so that `torch::full({n}, 1.5f, torch::kFloat)` reads as it should.
class Scalar final {
public:
  Scalar() : Scalar(0) {}
  Scalar(float value) : tag_(Tag::Double) { v_.d = value; }
  Scalar(double value) : tag_(Tag::Double) { v_.d = value; }
  Scalar(Half value) : Scalar(static_cast<float>(value)) {}
  Scalar(BFloat16 value) : Scalar(static_cast<float>(value)) {}
  Scalar(int value) : tag_(Tag::Int) { v_.i = value; }
  Scalar(unsigned int value) : tag_(Tag::Int) { v_.i = value; }
  Scalar(long value) : tag_(Tag::Int) { v_.i = value; }
  Scalar(unsigned long value) : tag_(Tag::Int) { v_.i = static_cast<int64_t>(value); }
  Scalar(long long value) : tag_(Tag::Int) { v_.i = value; }
  Scalar(unsigned long long value) : tag_(Tag::Int) { v_.i = static_cast<int64_t>(value); }
  Scalar(bool value) : tag_(Tag::Bool) { v_.i = value; }
  // A pointer would become a bool.
  template <typename T>
  Scalar(T *) = delete;

  /// Made from a floating-point value.
  bool isFloatingPoint() const { return tag_ == Tag::Double; }
  /// Made from an integer; a bool counts when `includeBool`.
  bool isIntegral(bool includeBool = false) const {
    return tag_ == Tag::Int || (includeBool && tag_ == Tag::Bool);
  }
  bool isBoolean() const { return tag_ == Tag::Bool; }
  bool isComplex() const { return false; }
  /// Double, Long or Bool, as c10 reports it.
  ScalarType type() const {
    return tag_ == Tag::Double ? ScalarType::Double : tag_ == Tag::Int ? ScalarType::Long : ScalarType::Bool;
  }

  /// The value as T: fractions are cut off, a value outside T's range is refused with c10's words
  /// (`value cannot be converted to type int8_t without overflow`); floats and halves round to nearest even.
  template <typename T>
  T to() const;

  double toDouble() const { return tag_ == Tag::Double ? v_.d : static_cast<double>(v_.i); }
  float toFloat() const;
  Half toHalf() const;
  BFloat16 toBFloat16() const;
  int toInt() const;
  int64_t toLong() const { return integral(INT64_MIN, INT64_MAX, "int64_t"); }
  short toShort() const;
  int8_t toChar() const;
  uint8_t toByte() const;
  bool toBool() const { return tag_ == Tag::Double ? v_.d != 0 : v_.i != 0; }

  Scalar operator-() const { return tag_ == Tag::Double ? Scalar(-v_.d) : Scalar(-v_.i); }
  bool equal(const Scalar& other) const {
    if (tag_ == Tag::Double || other.tag_ == Tag::Double)
      return toDouble() == other.toDouble();
    return v_.i == other.v_.i;
  }

private:
  int64_t integral(int64_t lowest, int64_t highest, const char* type) const {
    return detail::integral_in_range(tag_ == Tag::Double, v_.d, v_.i, lowest, highest, type);
  }
  float in_float_range(double limit, const char* type) const {
    const double value = toDouble();
    // NaN and infinity exist in every floating type; only a finite value can be too large.
    if ((value > limit && value <= 1.7976931348623157e308) || (value < -limit && value >= -1.7976931348623157e308))
      detail::scalar_overflow(type);
    return static_cast<float>(value);
  }

  enum class Tag : uint8_t { Double, Int, Bool };
  union {
    double d;
    int64_t i;
  } v_;
  Tag tag_;
};

template <>
inline double Scalar::to<double>() const {
  return toDouble();
}
template <>
inline float Scalar::to<float>() const {
  return in_float_range(3.4028234663852886e38, "float");
}
template <>
inline Half Scalar::to<Half>() const {
  return Half(in_float_range(65504.0, "at::Half"));
}
template <>
inline BFloat16 Scalar::to<BFloat16>() const {
  return BFloat16(in_float_range(3.3895313892515355e38, "at::BFloat16"));
}
template <>
inline bool Scalar::to<bool>() const {
  return toBool();
}
#define C10_SCALAR_TO_(T, lowest, highest, name)                   \
  template <>                                                      \
  inline T Scalar::to<T>() const {                                 \
    return static_cast<T>(integral(lowest, highest, name));        \
  }
// As in c10 a negative value wraps into an unsigned type.
C10_SCALAR_TO_(unsigned char, -255, 255, "uint8_t")
C10_SCALAR_TO_(signed char, -128, 127, "int8_t")
C10_SCALAR_TO_(short, -32768, 32767, "int16_t")
C10_SCALAR_TO_(int, INT32_MIN, INT32_MAX, "int")
C10_SCALAR_TO_(unsigned int, -static_cast<int64_t>(UINT32_MAX), UINT32_MAX, "uint32_t")
C10_SCALAR_TO_(long, sizeof(long) == 8 ? INT64_MIN : INT32_MIN, sizeof(long) == 8 ? INT64_MAX : INT32_MAX, "long")
C10_SCALAR_TO_(long long, INT64_MIN, INT64_MAX, "int64_t")
#undef C10_SCALAR_TO_

inline float Scalar::toFloat() const { return to<float>(); }
inline Half Scalar::toHalf() const { return to<Half>(); }
inline BFloat16 Scalar::toBFloat16() const { return to<BFloat16>(); }
inline int Scalar::toInt() const { return to<int>(); }
inline short Scalar::toShort() const { return to<short>(); }
inline int8_t Scalar::toChar() const { return to<int8_t>(); }
inline uint8_t Scalar::toByte() const { return to<uint8_t>(); }

} // namespace c10
