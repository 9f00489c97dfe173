// SPDX-License-Identifier: Apache-2.0
//
// bitwise_and, bitwise_or, bitwise_not: integral tensors only. Facts: spec user-api.md §6, §8.2.

#include "ops_lanes.h"

#include <ATen/ops.h>

namespace at {
namespace {

using ops::cast;
using ops::Lane;
using ops::map;
using ops::map_new;
using ops::Op;
using ops::Operand;

void and_int(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].i &= b[k].i;
}
void or_int(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].i |= b[k].i;
}
void not_int(Lane* a, const Lane*, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].i = ~a[k].i;
}

const Op kAnd = {"bitwise_and", nullptr, and_int};
const Op kOr = {"bitwise_or", nullptr, or_int};
const Op kNot = {"bitwise_not", nullptr, not_int};

// The type is refused before the scalar is looked at: a float tensor is the mistake to name, not its scalar.
Operand mask(const Op& op, const Scalar& scalar, const Tensor& tensor) {
  const ScalarType type = tensor.scalar_type();
  TORCH_CHECK(!c10::isFloatingType(type), "\"", op.name, "\" not implemented for '", c10::toString(type), "'");
  return Operand(cast(op.name, scalar, type));
}

}  // namespace

Tensor& bitwise_and_out(Tensor& result, const Tensor& self, const Scalar& other) {
  return map(kAnd, result, self, mask(kAnd, other, self));
}
Tensor& bitwise_and_out(Tensor& result, const Scalar& self, const Tensor& other) {
  return map(kAnd, result, other, mask(kAnd, self, other));
}
Tensor& bitwise_and_out(Tensor& result, const Tensor& self, const Tensor& other) {
  return map(kAnd, result, self, other);
}
Tensor bitwise_and(const Tensor& self, const Scalar& other) { return map_new(kAnd, self, self, mask(kAnd, other, self)); }
Tensor bitwise_and(const Scalar& self, const Tensor& other) {
  return map_new(kAnd, other, other, mask(kAnd, self, other));
}
Tensor bitwise_and(const Tensor& self, const Tensor& other) { return map_new(kAnd, self, self, other); }

Tensor& bitwise_or_out(Tensor& result, const Tensor& self, const Scalar& other) {
  return map(kOr, result, self, mask(kOr, other, self));
}
Tensor& bitwise_or_out(Tensor& result, const Scalar& self, const Tensor& other) {
  return map(kOr, result, other, mask(kOr, self, other));
}
Tensor& bitwise_or_out(Tensor& result, const Tensor& self, const Tensor& other) { return map(kOr, result, self, other); }
Tensor bitwise_or(const Tensor& self, const Scalar& other) { return map_new(kOr, self, self, mask(kOr, other, self)); }
Tensor bitwise_or(const Scalar& self, const Tensor& other) {
  return map_new(kOr, other, other, mask(kOr, self, other));
}
Tensor bitwise_or(const Tensor& self, const Tensor& other) { return map_new(kOr, self, self, other); }

Tensor& bitwise_not_out(Tensor& result, const Tensor& self) { return map(kNot, result, self); }
Tensor bitwise_not(const Tensor& self) { return map_new(kNot, self, self); }
Tensor bitwise_not(Tensor& result, const Tensor& self) { return map(kNot, result, self); }

}  // namespace at
