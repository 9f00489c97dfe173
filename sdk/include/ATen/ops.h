// SPDX-License-Identifier: Apache-2.0
//
// Factories and operators on whole tensors: every overload of spec user-api.md §4 and §6, device-runtime.md §3.2-§3.3.
//
// Rules that hold for all operators:
// - No broadcasting: tensor operands have equal shapes, and `result` of an `_out` form is already of that shape.
// - No promotion: operands and result have one element type, which is also that of a value form's result.
//   A Scalar is cast to it first (integers wrap, floats round); a floating-point Scalar beside an integral tensor,
//   which PyTorch would promote, is refused.
// - Half and BFloat16 compute in float and round once to nearest even. Integers wrap modulo their width.
// - `result` may be one of the operands. Tensors must be contiguous.
// A broken rule prints which one, with both shapes or types, and stops. Element type Long is refused by all but the
// factories' `_like` forms.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>

namespace at {

// As in PyTorch every c10 name is an at name, and so a torch name: kFloat, TensorOptions, dtype, …
using namespace c10;

// ---- Factories. Storage comes from the HBM heap of the current launch; the dtype must be given. ----

/// A new tensor with undefined contents.
Tensor empty(IntArrayRef size, TensorOptions options);
/// A new tensor with every element `fill_value`, converted as `Tensor::fill_` does.
Tensor full(IntArrayRef size, const Scalar& fill_value, TensorOptions options);
/// A new tensor of zeros.
Tensor zeros(IntArrayRef size, TensorOptions options);
/// A new tensor of ones.
Tensor ones(IntArrayRef size, TensorOptions options);
/// The n-by-m identity: ones where row equals column, else zeros.
Tensor eye(int64_t n, int64_t m, TensorOptions options);
/// A new tensor of `self`'s shape and type with undefined contents.
Tensor empty_like(const Tensor& self);
/// The same with a given element type.
Tensor empty_like(const Tensor& self, TensorOptions options);
/// A new tensor of zeros of `self`'s shape and type.
Tensor zeros_like(const Tensor& self);

// ---- Unary operators: X(self) and X_out(result, self). `const` accepts both spellings in use (user-api.md §8.3). ----

/// |self|; the lowest integer of a signed type stays as it is.
Tensor abs(const Tensor& self);
Tensor& abs_out(Tensor& result, const Tensor& self);
/// Next integral value above; a copy for integral tensors.
Tensor ceil(const Tensor& self);
Tensor& ceil_out(Tensor& result, const Tensor& self);
/// Next integral value below; a copy for integral tensors.
Tensor floor(const Tensor& self);
Tensor& floor_out(Tensor& result, const Tensor& self);
/// Sine of radians; floating-point tensors only, like the functions below.
Tensor sin(const Tensor& self);
Tensor& sin_out(Tensor& result, const Tensor& self);
/// Cosine of radians.
Tensor cos(const Tensor& self);
Tensor& cos_out(Tensor& result, const Tensor& self);
/// Tangent of radians.
Tensor tan(const Tensor& self);
Tensor& tan_out(Tensor& result, const Tensor& self);
/// Natural logarithm: -inf at zero, NaN below.
Tensor log(const Tensor& self);
Tensor& log_out(Tensor& result, const Tensor& self);
/// Logarithm to base 2.
Tensor log2(const Tensor& self);
Tensor& log2_out(Tensor& result, const Tensor& self);
/// Logarithm to base 10.
Tensor log10(const Tensor& self);
Tensor& log10_out(Tensor& result, const Tensor& self);
/// e to the power of self.
Tensor exp(const Tensor& self);
Tensor& exp_out(Tensor& result, const Tensor& self);
/// All bits inverted; integral tensors.
Tensor bitwise_not(const Tensor& self);
/// The documented two-parameter value form (user-api.md §8.2): writes `result` and returns it.
Tensor bitwise_not(Tensor& result, const Tensor& self);
Tensor& bitwise_not_out(Tensor& result, const Tensor& self);

// ---- Binary operators. ----

/// self to the power of exponent. Integers multiply with wrap-around; a negative integral Scalar exponent is refused,
/// a negative element of an exponent tensor gives 1 for base 1, 1 or -1 for base -1, else 0, as PyTorch has it.
Tensor pow(const Tensor& self, const Scalar& exponent);
Tensor pow(const Scalar& self, const Tensor& exponent);
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor& pow_out(Tensor& result, const Tensor& self, const Scalar& exponent);
Tensor& pow_out(Tensor& result, const Scalar& self, const Tensor& exponent);
Tensor& pow_out(Tensor& result, const Tensor& self, const Tensor& exponent);

/// min(max(self, minval), maxval). A NaN element stays NaN; a NaN bound makes every element NaN; where
/// minval > maxval the result is maxval. A zero that lies within the bounds keeps its sign.
Tensor clamp(const Tensor& self, const Scalar& minval, const Scalar& maxval);
Tensor& clamp_out(Tensor& result, const Tensor& self, const Scalar& minval, const Scalar& maxval);

/// self + alpha * other, without fused rounding.
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor& add_out(Tensor& result, const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
Tensor& add_out(Tensor& result, const Tensor& self, const Tensor& other, const Scalar& alpha = 1);

/// self - alpha * other, without fused rounding.
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor& sub_out(Tensor& result, const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
Tensor& sub_out(Tensor& result, const Tensor& self, const Tensor& other, const Scalar& alpha = 1);

/// self * other.
Tensor mul(const Tensor& self, const Scalar& other);
Tensor mul(const Tensor& self, const Tensor& other);
Tensor& mul_out(Tensor& result, const Tensor& self, const Scalar& other);
Tensor& mul_out(Tensor& result, const Tensor& self, const Tensor& other);

/// self / other. Integers truncate toward zero (PyTorch would promote to float); an integral zero divisor is refused
/// with PyTorch's word ZeroDivisionError.
Tensor div(const Tensor& self, const Scalar& other);
Tensor div(const Tensor& self, const Tensor& other);
Tensor& div_out(Tensor& result, const Tensor& self, const Scalar& other);
Tensor& div_out(Tensor& result, const Tensor& self, const Tensor& other);

/// Bits set in both; integral tensors.
Tensor bitwise_and(const Tensor& self, const Scalar& other);
Tensor bitwise_and(const Scalar& self, const Tensor& other);
Tensor bitwise_and(const Tensor& self, const Tensor& other);
Tensor& bitwise_and_out(Tensor& result, const Tensor& self, const Scalar& other);
Tensor& bitwise_and_out(Tensor& result, const Scalar& self, const Tensor& other);
Tensor& bitwise_and_out(Tensor& result, const Tensor& self, const Tensor& other);

/// Bits set in either; integral tensors.
Tensor bitwise_or(const Tensor& self, const Scalar& other);
Tensor bitwise_or(const Scalar& self, const Tensor& other);
Tensor bitwise_or(const Tensor& self, const Tensor& other);
Tensor& bitwise_or_out(Tensor& result, const Tensor& self, const Scalar& other);
Tensor& bitwise_or_out(Tensor& result, const Scalar& self, const Tensor& other);
Tensor& bitwise_or_out(Tensor& result, const Tensor& self, const Tensor& other);

} // namespace at
