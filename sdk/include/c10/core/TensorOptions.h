// SPDX-License-Identifier: Apache-2.0
//
// c10::TensorOptions: what a factory is told beside the shape. Only the element type has an effect here, and it must be
// given (spec user-api.md §3). Unaware of tensors.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <c10/util/typeid.h>

namespace c10 {

/// Options of a new tensor; made implicitly from a dtype constant: `torch::empty({n}, torch::kFloat)`.
class TensorOptions final {
public:
  constexpr TensorOptions() : dtype_(ScalarType::Undefined) {}
  constexpr TensorOptions(ScalarType dtype) : dtype_(dtype) {}
  constexpr TensorOptions(caffe2::TypeMeta dtype) : dtype_(dtype.toScalarType()) {}

  /// The same options with this element type.
  constexpr TensorOptions dtype(ScalarType dtype) const { return TensorOptions(dtype); }
  constexpr TensorOptions dtype(caffe2::TypeMeta dtype) const { return TensorOptions(dtype); }
  /// Accepted for sources shared with PyTorch; no effect.
  constexpr TensorOptions requires_grad(bool) const { return *this; }

  constexpr bool has_dtype() const { return dtype_ != ScalarType::Undefined; }
  constexpr caffe2::TypeMeta dtype() const { return caffe2::TypeMeta(dtype_); }
  /// The element type; refused in words when none was given.
  ScalarType scalar_type() const {
    TORCH_CHECK(has_dtype(), "TensorOptions: a dtype must be given, for example torch::kFloat");
    return dtype_;
  }

private:
  ScalarType dtype_;
};

/// Options with the given element type.
constexpr TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
constexpr TensorOptions dtype(caffe2::TypeMeta type) { return TensorOptions(type); }

} // namespace c10
