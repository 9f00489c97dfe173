// SPDX-License-Identifier: Apache-2.0
//
// caffe2::TypeMeta: the element type as `Tensor::dtype()` reports it. Here a name for a ScalarType, no registry.
#pragma once

#include <c10/core/ScalarType.h>
#include <stddef.h>

namespace caffe2 {

/// An element type; compares with `torch::kFloat` and friends, and `TensorOptions` accepts it.
class TypeMeta {
 public:
  constexpr TypeMeta() : type_(c10::ScalarType::Undefined) {}
  constexpr explicit TypeMeta(c10::ScalarType type) : type_(type) {}
  /// The enumerator.
  constexpr c10::ScalarType toScalarType() const { return type_; }
  /// Bytes of one element.
  size_t itemsize() const { return c10::elementSize(type_); }
  /// The enumerator's name, for messages.
  const char* name() const { return c10::toString(type_); }

 private:
  c10::ScalarType type_;
};

constexpr bool operator==(TypeMeta a, TypeMeta b) { return a.toScalarType() == b.toScalarType(); }
constexpr bool operator!=(TypeMeta a, TypeMeta b) { return !(a == b); }
constexpr bool operator==(TypeMeta a, c10::ScalarType b) { return a.toScalarType() == b; }
constexpr bool operator!=(TypeMeta a, c10::ScalarType b) { return !(a == b); }
constexpr bool operator==(c10::ScalarType a, TypeMeta b) { return a == b.toScalarType(); }
constexpr bool operator!=(c10::ScalarType a, TypeMeta b) { return !(a == b); }

}  // namespace caffe2
