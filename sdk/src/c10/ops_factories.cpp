// SPDX-License-Identifier: Apache-2.0
//
// Tensor factories. Facts: spec user-api.md §4, device-runtime.md §3.2.

#include "ops_lanes.h"

#include <ATen/ops.h>
#include <neuron/custom_op.h>

namespace at {
namespace {

// Zero is all bits clear in every type, and needs no conversion from Scalar.
void fill_zero(const Tensor& tensor) {
  static const uint8_t zero = 0;
  ops::fill_elements(tensor.q7_data_ptr().hbm_addr, tensor.nbytes(), &zero, 1);
}

// The encoding of 1 in `type`, first byte first.
uint64_t one_bits(ScalarType type) {
  switch (type) {
    case ScalarType::Float:
      return 0x3f800000u;
    case ScalarType::Half:
      return 0x3c00u;
    case ScalarType::BFloat16:
      return 0x3f80u;
    default:
      return 1u;
  }
}

}  // namespace

Tensor empty(IntArrayRef size, TensorOptions options) { return detail::make_tensor(size, options.scalar_type()); }

Tensor full(IntArrayRef size, const Scalar& fill_value, TensorOptions options) {
  Tensor result = empty(size, options);
  result.fill_(fill_value);
  return result;
}

Tensor zeros(IntArrayRef size, TensorOptions options) {
  Tensor result = empty(size, options);
  fill_zero(result);
  return result;
}

Tensor ones(IntArrayRef size, TensorOptions options) {
  Tensor result = empty(size, options);
  uint64_t one = one_bits(result.scalar_type());
  ops::fill_elements(result.q7_data_ptr().hbm_addr, static_cast<size_t>(result.numel()), &one, result.itemsize());
  return result;
}

Tensor eye(int64_t n, int64_t m, TensorOptions options) {
  Tensor result = zeros({n, m}, options);
  uint64_t one = one_bits(result.scalar_type());
  const unsigned long long first = result.q7_data_ptr().hbm_addr;
  const uint64_t diagonal = static_cast<uint64_t>(n < m ? n : m);
  const uint64_t step = static_cast<uint64_t>(m + 1) * result.itemsize();
  for (uint64_t i = 0; i < diagonal; ++i) neuron_memcpy(first + i * step, &one, result.itemsize());
  return result;
}

Tensor empty_like(const Tensor& self) { return detail::make_tensor(self.sizes(), self.scalar_type()); }

Tensor empty_like(const Tensor& self, TensorOptions options) {
  return detail::make_tensor(self.sizes(), options.has_dtype() ? options.scalar_type() : self.scalar_type());
}

Tensor zeros_like(const Tensor& self) {
  Tensor result = empty_like(self);
  fill_zero(result);
  return result;
}

}  // namespace at
