// SPDX-License-Identifier: Apache-2.0
//
// The transcendental unary operators, floating-point only: libm's float functions, one rounding for 16-bit types.
// Facts: spec user-api.md §6.

#include "ops_lanes.h"

#include <ATen/ops.h>
#include <math.h>

// Each is a loop and a constant of its own, so that a kernel links only the functions it names. A temporary Op would be copied
// from an initialiser in the common .data section, which keeps all of them.
#define AT_MATH_OPERATOR_(name, function)                                                                  \
  namespace {                                                                                              \
  void name##_float(ops::Lane* a, const ops::Lane*, size_t n, const ops::Lane*) {                          \
    for (size_t k = 0; k < n; ++k) a[k].f = function(a[k].f);                                              \
  }                                                                                                        \
  const ops::Op name##_op = {#name, name##_float, nullptr};                                                \
  }                                                                                                        \
  Tensor name(const Tensor& self) { return ops::map_new(name##_op, self, self); }                          \
  Tensor& name##_out(Tensor& result, const Tensor& self) { return ops::map(name##_op, result, self); }

namespace at {

AT_MATH_OPERATOR_(sin, sinf)
AT_MATH_OPERATOR_(cos, cosf)
AT_MATH_OPERATOR_(tan, tanf)
AT_MATH_OPERATOR_(log, logf)
AT_MATH_OPERATOR_(log2, log2f)
AT_MATH_OPERATOR_(log10, log10f)
AT_MATH_OPERATOR_(exp, expf)

}  // namespace at
