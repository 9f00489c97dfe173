// SPDX-License-Identifier: Apache-2.0
//
// pow. Facts: spec user-api.md §6.

#include "ops_lanes.h"

#include <ATen/ops.h>
#include <math.h>

namespace at {
namespace {

using ops::cast;
using ops::Lane;
using ops::Operand;

// newlib's powf gives 1 for (-1, NaN); a NaN survives unless the other operand makes it irrelevant (C11 F.10.4.4).
float power(float base, float exponent) {
  if (base == 1.0f || exponent == 0.0f) return 1.0f;
  if (base != base || exponent != exponent) return base + exponent;
  return powf(base, exponent);
}

void pow_float(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].f = power(a[k].f, b[k].f);
}

int32_t integral_power(int32_t base, int32_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base != -1 ? 0 : exponent & 1 ? -1 : 1;
  uint32_t result = 1;
  uint32_t square = static_cast<uint32_t>(base);
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result *= square;
    square *= square;
  }
  return static_cast<int32_t>(result);
}

void pow_int(Lane* a, const Lane* b, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].i = integral_power(a[k].i, b[k].i);
}

const ops::Op kPow = {"pow", pow_float, pow_int};

}  // namespace

Tensor& pow_out(Tensor& result, const Tensor& self, const Scalar& exponent) {
  const ScalarType type = self.scalar_type();
  TORCH_CHECK(c10::isFloatingType(type) || exponent.isFloatingPoint() || exponent.toLong() >= 0,
              "Integers to negative integer powers are not allowed.");
  return ops::map(kPow, result, self, Operand(cast("pow", exponent, type)));
}
Tensor& pow_out(Tensor& result, const Scalar& self, const Tensor& exponent) {
  return ops::map(kPow, result, Operand(cast("pow", self, exponent.scalar_type())), exponent);
}
Tensor& pow_out(Tensor& result, const Tensor& self, const Tensor& exponent) {
  return ops::map(kPow, result, self, exponent);
}

Tensor pow(const Tensor& self, const Scalar& exponent) {
  Tensor result = empty_like(self);
  pow_out(result, self, exponent);
  return result;
}
Tensor pow(const Scalar& self, const Tensor& exponent) {
  Tensor result = empty_like(exponent);
  pow_out(result, self, exponent);
  return result;
}
Tensor pow(const Tensor& self, const Tensor& exponent) { return ops::map_new(kPow, self, self, exponent); }

}  // namespace at
