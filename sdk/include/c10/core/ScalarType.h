// SPDX-License-Identifier: Apache-2.0
//
// Element types: the enumeration with c10's ordinals, the constants kernels write, and the C++ type behind each.
// Facts: spec user-api.md §3, customop-abi.md §6, device-runtime.md §16.
// Unaware of the ISA's dtype codes; the runtime maps those when an argument arrives.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <stddef.h>

namespace c10 {

/// Element type of a tensor; ordinals are c10's of PyTorch 1.12. Only Byte, Char, Short, Int, Half, Float and
/// BFloat16 can be created; Long exists because an argument may arrive as one. The rest keep the numbering.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  Undefined = 18,
  NumOptions = 19
};

/// `uint8_t` elements.
constexpr ScalarType kByte = ScalarType::Byte;
/// `int8_t` elements.
constexpr ScalarType kChar = ScalarType::Char;
/// `int16_t` elements.
constexpr ScalarType kShort = ScalarType::Short;
/// `int32_t` elements.
constexpr ScalarType kInt = ScalarType::Int;
/// IEEE binary16 elements, `at::Half`.
constexpr ScalarType kHalf = ScalarType::Half;
/// `float` elements.
constexpr ScalarType kFloat = ScalarType::Float;
/// Upper half of a float, `at::BFloat16`.
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;

constexpr ScalarType kUInt8 = kByte;
constexpr ScalarType kInt8 = kChar;
constexpr ScalarType kInt16 = kShort;
constexpr ScalarType kInt32 = kInt;
constexpr ScalarType kFloat16 = kHalf;
constexpr ScalarType kFloat32 = kFloat;

// Names that PyTorch has and this device does not: using one is an error that says why (spec user-api.md §3: 64-bit
// elements were withdrawn). Compilers without the attribute refuse at the conversion instead.
#if defined(__has_attribute)
#if __has_attribute(unavailable)
#define C10_UNSUPPORTED_(reason) __attribute__((unavailable(reason)))
#endif
#endif
#ifndef C10_UNSUPPORTED_
#define C10_UNSUPPORTED_(reason)
#endif

namespace detail {

struct UnsupportedDtype {
  template <typename T>
  constexpr operator T() const {
    static_assert(sizeof(T) == 0, "this dtype is not supported on GPSIMD: use kFloat, kBFloat16, kHalf, kInt, kShort, "
                                  "kChar or kByte");
    return T();
  }
};

} // namespace detail

constexpr detail::UnsupportedDtype kLong
    C10_UNSUPPORTED_("64-bit elements are not supported on GPSIMD (withdrawn in Neuron SDK 2.25); use kInt") = {};
constexpr detail::UnsupportedDtype kInt64
    C10_UNSUPPORTED_("64-bit elements are not supported on GPSIMD (withdrawn in Neuron SDK 2.25); use kInt") = {};
constexpr detail::UnsupportedDtype kDouble
    C10_UNSUPPORTED_("64-bit elements are not supported on GPSIMD (withdrawn in Neuron SDK 2.25); use kFloat") = {};
constexpr detail::UnsupportedDtype kFloat64
    C10_UNSUPPORTED_("64-bit elements are not supported on GPSIMD (withdrawn in Neuron SDK 2.25); use kFloat") = {};
constexpr detail::UnsupportedDtype kBool
    C10_UNSUPPORTED_("bool elements are not supported on GPSIMD; use kByte") = {};

/// Bytes per element; 0 for a type that no tensor here can have.
constexpr size_t elementSize(ScalarType t) {
  return t == ScalarType::Byte || t == ScalarType::Char                                   ? 1
         : t == ScalarType::Short || t == ScalarType::Half || t == ScalarType::BFloat16 ? 2
         : t == ScalarType::Int || t == ScalarType::Float                                 ? 4
         : t == ScalarType::Long                                                          ? 8
                                                                                          : 0;
}

/// Float, Half or BFloat16.
constexpr bool isFloatingType(ScalarType t) {
  return t == ScalarType::Float || t == ScalarType::Half || t == ScalarType::BFloat16;
}

/// Byte, Char, Short, Int or Long.
constexpr bool isIntegralType(ScalarType t) { return t >= ScalarType::Byte && t <= ScalarType::Long; }
constexpr bool isIntegralType(ScalarType t, bool /*includeBool*/) { return isIntegralType(t); }

/// The name PyTorch prints: "Float", "BFloat16", …
inline const char* toString(ScalarType t) {
  switch (t) {
  case ScalarType::Byte:
    return "Byte";
  case ScalarType::Char:
    return "Char";
  case ScalarType::Short:
    return "Short";
  case ScalarType::Int:
    return "Int";
  case ScalarType::Long:
    return "Long";
  case ScalarType::Half:
    return "Half";
  case ScalarType::Float:
    return "Float";
  case ScalarType::BFloat16:
    return "BFloat16";
  default:
    return "UNKNOWN_SCALAR";
  }
}

/// `CppTypeToScalarType<T>::value`: the element type of C++ type T.
template <typename T>
struct CppTypeToScalarType;
#define C10_CPP_SCALAR_TYPE_(cpp, name)                         \
  template <>                                                   \
  struct CppTypeToScalarType<cpp> {                             \
    static constexpr ScalarType value = ScalarType::name;       \
  };
C10_CPP_SCALAR_TYPE_(uint8_t, Byte)
C10_CPP_SCALAR_TYPE_(int8_t, Char)
C10_CPP_SCALAR_TYPE_(int16_t, Short)
C10_CPP_SCALAR_TYPE_(int32_t, Int)
C10_CPP_SCALAR_TYPE_(int64_t, Long)
C10_CPP_SCALAR_TYPE_(Half, Half)
C10_CPP_SCALAR_TYPE_(float, Float)
C10_CPP_SCALAR_TYPE_(BFloat16, BFloat16)
#undef C10_CPP_SCALAR_TYPE_

} // namespace c10
