// SPDX-License-Identifier: Apache-2.0
//
// Tensor factories and fill_. Facts: spec user-api.md §4, device-runtime.md §3.2.

#include "ops_lanes.h"

#include <ATen/ops.h>
#include <neuron/custom_op.h>

namespace at {
namespace {

// The bytes of one element, first byte first.
struct Element {
  uint64_t bits;
  size_t size;
};

template <typename T>
Element element_of(T value) {
  Element element = {0, sizeof value};
  __builtin_memcpy(&element.bits, &value, sizeof value);
  return element;
}

// `scalar` as an element of `type`; a number out of the type's range is refused in c10's words.
Element element_of(const Scalar& scalar, ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
      return element_of(scalar.toByte());
    case ScalarType::Char:
      return element_of(scalar.toChar());
    case ScalarType::Short:
      return element_of(scalar.toShort());
    case ScalarType::Int:
      return element_of(scalar.toInt());
    case ScalarType::Long:
      return element_of(scalar.toLong());
    case ScalarType::Half:
      return element_of(scalar.toHalf());
    case ScalarType::BFloat16:
      return element_of(scalar.toBFloat16());
    default:
      return element_of(scalar.toFloat());
  }
}

void fill(const Tensor& tensor, const Element& element) {
  NEURON_REFERENCE_ASSERT(tensor.is_non_overlapping_and_dense(),
                          "ATen/Functions.h:197 tensor.is_non_overlapping_and_dense()");
  ops::fill_elements(tensor.q7_data_ptr().hbm_addr, static_cast<size_t>(tensor.numel()), &element.bits, element.size);
}

// Zero is all bits clear in every type, and needs no conversion from Scalar.
void fill_zero(const Tensor& tensor) {
  static const uint8_t zero = 0;
  ops::fill_elements(tensor.q7_data_ptr().hbm_addr, tensor.nbytes(), &zero, 1);
}

}  // namespace

Tensor& Tensor::fill_(const Scalar& value) const {
  fill(*this, element_of(value, scalar_type()));
  return const_cast<Tensor&>(*this);
}

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

Tensor ones(IntArrayRef size, TensorOptions options) { return full(size, 1, options); }

Tensor eye(int64_t n, int64_t m, TensorOptions options) {
  Tensor result = zeros({n, m}, options);
  Element one = element_of(1, result.scalar_type());
  const unsigned long long first = result.q7_data_ptr().hbm_addr;
  const uint64_t diagonal = static_cast<uint64_t>(n < m ? n : m);
  const uint64_t step = static_cast<uint64_t>(m + 1) * one.size;
  for (uint64_t i = 0; i < diagonal; ++i) neuron_memcpy(first + i * step, &one.bits, one.size);
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
