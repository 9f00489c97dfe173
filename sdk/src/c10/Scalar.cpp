// SPDX-License-Identifier: Apache-2.0
//
// The failing path of Scalar's conversions.

#include <c10/core/Scalar.h>

namespace c10 {
namespace detail {

void scalar_overflow(const char* type) {
  TORCH_CHECK(false, "value cannot be converted to type ", type, " without overflow");
  __builtin_unreachable();
}

}  // namespace detail
}  // namespace c10
