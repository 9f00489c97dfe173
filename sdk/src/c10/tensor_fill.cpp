// SPDX-License-Identifier: Apache-2.0
//
// Tensor::fill_: one value over a whole tensor, through a block of core-local memory. Facts: spec user-api.md §5,
// device-runtime.md §3.3.
#include <ATen/core/Tensor.h>

#include <string.h>

namespace at {

namespace {

/// Writes `value` as one element of type `dtype` at `to`; returns its size in bytes.
size_t store_element(const Scalar& value, ScalarType dtype, void* to) {
  switch (dtype) {
    case ScalarType::Byte: {
      const uint8_t v = value.to<uint8_t>();
      memcpy(to, &v, sizeof(v));
      return sizeof(v);
    }
    case ScalarType::Char: {
      const int8_t v = value.to<int8_t>();
      memcpy(to, &v, sizeof(v));
      return sizeof(v);
    }
    case ScalarType::Short: {
      const int16_t v = value.to<int16_t>();
      memcpy(to, &v, sizeof(v));
      return sizeof(v);
    }
    case ScalarType::Int: {
      const int32_t v = value.to<int32_t>();
      memcpy(to, &v, sizeof(v));
      return sizeof(v);
    }
    case ScalarType::Long: {
      const int64_t v = value.to<int64_t>();
      memcpy(to, &v, sizeof(v));
      return sizeof(v);
    }
    case ScalarType::Half: {
      const c10::Half v = value.to<c10::Half>();
      memcpy(to, &v, sizeof(v));
      return sizeof(v);
    }
    case ScalarType::BFloat16: {
      const c10::BFloat16 v = value.to<c10::BFloat16>();
      memcpy(to, &v, sizeof(v));
      return sizeof(v);
    }
    case ScalarType::Float: {
      const float v = value.to<float>();
      memcpy(to, &v, sizeof(v));
      return sizeof(v);
    }
    default:
      TORCH_CHECK(false, "Invalid datatype. Note that complex scalars and qints are not supported");
  }
}

/// Core-local staging: as much as the pool gives up to this size, else a few elements on the stack.
constexpr size_t STAGE_BYTES = 4096;
constexpr size_t STACK_STAGE_BYTES = 64;

}  // namespace

Tensor& Tensor::fill_(const Scalar& value) const {
  NEURON_REFERENCE_ASSERT(is_non_overlapping_and_dense(), "ATen/Functions.h:197 tensor.is_non_overlapping_and_dense()");
  alignas(8) unsigned char element[8];
  const size_t itemsize = store_element(value, scalar_type(), element);

  size_t stage_bytes = 0;
  int ret = neuron_dataram_max_free_space(&stage_bytes);
  NEURON_REFERENCE_ASSERT(ret == 0, "ATen/Functions.h:240 ret == 0");
  alignas(8) unsigned char fallback[STACK_STAGE_BYTES];
  void* block = nullptr;
  if (stage_bytes >= STACK_STAGE_BYTES) {
    if (stage_bytes > STAGE_BYTES) stage_bytes = STAGE_BYTES;
    ret = neuron_dataram_allocate(stage_bytes, &block);
    NEURON_REFERENCE_ASSERT(ret == 0, "ATen/Functions.h:245 ret == 0");
  } else {
    stage_bytes = STACK_STAGE_BYTES;
  }
  unsigned char* const stage = block != nullptr ? static_cast<unsigned char*>(block) : fallback;

  const size_t total = nbytes();
  if (stage_bytes > total) stage_bytes = total;
  stage_bytes -= stage_bytes % itemsize;
  for (size_t offset = 0; offset < stage_bytes; offset += itemsize) memcpy(stage + offset, element, itemsize);
  const unsigned long long first = q7_data_ptr().hbm_addr;
  for (size_t offset = 0; offset < total;) {
    const size_t chunk = total - offset < stage_bytes ? total - offset : stage_bytes;
    neuron_memcpy(first + offset, stage, chunk);
    offset += chunk;
  }

  if (block != nullptr) {
    ret = neuron_dataram_deallocate(block);
    NEURON_REFERENCE_ASSERT(ret == 0, "ATen/Functions.h:271 ret == 0");
  }
  return const_cast<Tensor&>(*this);
}

}  // namespace at
