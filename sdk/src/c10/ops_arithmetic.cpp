// SPDX-License-Identifier: Apache-2.0
//
// add, sub, mul, div. Facts: spec user-api.md §6.

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

inline int32_t wrapped(uint32_t value) { return static_cast<int32_t>(value); }
inline uint32_t bits(Lane lane) { return static_cast<uint32_t>(lane.i); }

void add_float(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].f = a[k].f + b[k].f;
}
void add_int(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].i = wrapped(bits(a[k]) + bits(b[k]));
}
void sub_float(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].f = a[k].f - b[k].f;
}
void sub_int(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].i = wrapped(bits(a[k]) - bits(b[k]));
}
// With an alpha other than 1: the product is rounded to float before it is added, also where the target could fuse.
void add_scaled_float(Lane* a, const Lane* b, size_t n, const Lane* alpha) {
  for (size_t k = 0; k < n; ++k) {
    const volatile float product = alpha->f * b[k].f;
    a[k].f = a[k].f + product;
  }
}
void add_scaled_int(Lane* a, const Lane* b, size_t n, const Lane* alpha) {
  for (size_t k = 0; k < n; ++k) a[k].i = wrapped(bits(a[k]) + bits(*alpha) * bits(b[k]));
}
void sub_scaled_float(Lane* a, const Lane* b, size_t n, const Lane* alpha) {
  for (size_t k = 0; k < n; ++k) {
    const volatile float product = alpha->f * b[k].f;
    a[k].f = a[k].f - product;
  }
}
void sub_scaled_int(Lane* a, const Lane* b, size_t n, const Lane* alpha) {
  for (size_t k = 0; k < n; ++k) a[k].i = wrapped(bits(a[k]) - bits(*alpha) * bits(b[k]));
}
void mul_float(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].f = a[k].f * b[k].f;
}
void mul_int(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].i = wrapped(bits(a[k]) * bits(b[k]));
}
void div_float(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].f = a[k].f / b[k].f;
}
void div_int(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) {
    TORCH_CHECK(b[k].i != 0, "div: ZeroDivisionError");
    // The lowest integer has no positive counterpart: it wraps instead of trapping.
    a[k].i = b[k].i == -1 ? wrapped(0u - bits(a[k])) : a[k].i / b[k].i;
  }
}

const Op kAdd = {"add", add_float, add_int};
const Op kAddScaled = {"add", add_scaled_float, add_scaled_int};
const Op kSub = {"sub", sub_float, sub_int};
const Op kSubScaled = {"sub", sub_scaled_float, sub_scaled_int};
const Op kMul = {"mul", mul_float, mul_int};
const Op kDiv = {"div", div_float, div_int};

// alpha = 1 is the rule, and multiplying by it in software would cost more than the addition.
Tensor& plus_scaled(const Op& plain, const Op& scaled, Tensor& result, const Tensor& self, const Operand& other,
                    const Scalar& alpha) {
  const Lane factor = cast(plain.name, alpha, self.scalar_type());
  const bool is_one = c10::isFloatingType(self.scalar_type()) ? factor.f == 1.0f : factor.i == 1;
  return map(is_one ? plain : scaled, result, self, other, &factor);
}

}  // namespace

Tensor& add_out(Tensor& result, const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return plus_scaled(kAdd, kAddScaled, result, self, Operand(cast("add", other, self.scalar_type())), alpha);
}
Tensor& add_out(Tensor& result, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return plus_scaled(kAdd, kAddScaled, result, self, other, alpha);
}
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  Tensor result = empty_like(self);
  add_out(result, self, other, alpha);
  return result;
}
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  Tensor result = empty_like(self);
  add_out(result, self, other, alpha);
  return result;
}

Tensor& sub_out(Tensor& result, const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return plus_scaled(kSub, kSubScaled, result, self, Operand(cast("sub", other, self.scalar_type())), alpha);
}
Tensor& sub_out(Tensor& result, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return plus_scaled(kSub, kSubScaled, result, self, other, alpha);
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  Tensor result = empty_like(self);
  sub_out(result, self, other, alpha);
  return result;
}
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  Tensor result = empty_like(self);
  sub_out(result, self, other, alpha);
  return result;
}

Tensor& mul_out(Tensor& result, const Tensor& self, const Scalar& other) {
  return map(kMul, result, self, Operand(cast("mul", other, self.scalar_type())));
}
Tensor& mul_out(Tensor& result, const Tensor& self, const Tensor& other) { return map(kMul, result, self, other); }
Tensor mul(const Tensor& self, const Scalar& other) {
  return map_new(kMul, self, self, Operand(cast("mul", other, self.scalar_type())));
}
Tensor mul(const Tensor& self, const Tensor& other) { return map_new(kMul, self, self, other); }

Tensor& div_out(Tensor& result, const Tensor& self, const Scalar& other) {
  return map(kDiv, result, self, Operand(cast("div", other, self.scalar_type())));
}
Tensor& div_out(Tensor& result, const Tensor& self, const Tensor& other) { return map(kDiv, result, self, other); }
Tensor div(const Tensor& self, const Scalar& other) {
  return map_new(kDiv, self, self, Operand(cast("div", other, self.scalar_type())));
}
Tensor div(const Tensor& self, const Tensor& other) { return map_new(kDiv, self, self, other); }

}  // namespace at
