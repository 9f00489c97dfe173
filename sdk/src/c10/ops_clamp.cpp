// SPDX-License-Identifier: Apache-2.0
//
// clamp. Facts: spec user-api.md §6.

#include "ops_lanes.h"

#include <ATen/ops.h>

namespace at {
namespace {

using ops::Lane;

void clamp_float(Lane* a, const Lane*, size_t n, const Lane* bounds) {
  const float lowest = bounds[0].f;
  const float highest = bounds[1].f;
  const bool has_nan = lowest != lowest || highest != highest;
  for (size_t k = 0; k < n; ++k) {
    float v = a[k].f;
    if (v < lowest) v = lowest;
    if (v > highest) v = highest;
    a[k].f = has_nan ? lowest + highest : v;
  }
}

void clamp_int(Lane* a, const Lane*, size_t n, const Lane* bounds) {
  for (size_t k = 0; k < n; ++k) {
    if (a[k].i < bounds[0].i) a[k].i = bounds[0].i;
    if (a[k].i > bounds[1].i) a[k].i = bounds[1].i;
  }
}

const ops::Op kClamp = {"clamp", clamp_float, clamp_int};

// A bound that the type cannot hold is its nearest value: wrapping, as elsewhere, would turn `at most 300` of bytes
// into `at most 44`.
Lane bound(const Scalar& scalar, ScalarType type) {
  int64_t lowest = INT32_MIN, highest = INT32_MAX;
  if (type == ScalarType::Byte) lowest = 0, highest = UINT8_MAX;
  if (type == ScalarType::Char) lowest = INT8_MIN, highest = INT8_MAX;
  if (type == ScalarType::Short) lowest = INT16_MIN, highest = INT16_MAX;
  if (c10::isFloatingType(type) || scalar.isFloatingPoint()) return ops::cast("clamp", scalar, type);
  const int64_t value = scalar.toLong();
  Lane lane;
  lane.i = static_cast<int32_t>(value < lowest ? lowest : value > highest ? highest : value);
  return lane;
}

}  // namespace

Tensor& clamp_out(Tensor& result, const Tensor& self, const Scalar& minval, const Scalar& maxval) {
  const Lane bounds[2] = {bound(minval, self.scalar_type()), bound(maxval, self.scalar_type())};
  return ops::map(kClamp, result, self, ops::Operand(), bounds);
}

Tensor clamp(const Tensor& self, const Scalar& minval, const Scalar& maxval) {
  Tensor result = empty_like(self);
  clamp_out(result, self, minval, maxval);
  return result;
}

}  // namespace at
