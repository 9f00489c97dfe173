// SPDX-License-Identifier: Apache-2.0
//
// abs, ceil, floor: the unary operators that are exact and defined for integers too. Facts: spec user-api.md §6.

#include "ops_lanes.h"

#include <ATen/ops.h>
#include <math.h>

namespace at {
namespace {

using ops::Lane;
using ops::Op;

void abs_float(Lane* a, const Lane*, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].i &= 0x7fffffff;
}
void abs_int(Lane* a, const Lane*, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k)
    if (a[k].i < 0) a[k].i = static_cast<int32_t>(0u - static_cast<uint32_t>(a[k].i));
}
void ceil_float(Lane* a, const Lane*, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].f = ceilf(a[k].f);
}
void floor_float(Lane* a, const Lane*, size_t n, const Lane*) {
  for (size_t k = 0; k < n; ++k) a[k].f = floorf(a[k].f);
}
void copy_int(Lane*, const Lane*, size_t, const Lane*) {}

const Op kAbs = {"abs", abs_float, abs_int};
const Op kCeil = {"ceil", ceil_float, copy_int};
const Op kFloor = {"floor", floor_float, copy_int};

}  // namespace

Tensor abs(const Tensor& self) { return ops::map_new(kAbs, self, self); }
Tensor& abs_out(Tensor& result, const Tensor& self) { return ops::map(kAbs, result, self); }

Tensor ceil(const Tensor& self) { return ops::map_new(kCeil, self, self); }
Tensor& ceil_out(Tensor& result, const Tensor& self) { return ops::map(kCeil, result, self); }

Tensor floor(const Tensor& self) { return ops::map_new(kFloor, self, self); }
Tensor& floor_out(Tensor& result, const Tensor& self) { return ops::map(kFloor, result, self); }

}  // namespace at
