// SPDX-License-Identifier: Apache-2.0
//
// The block engine of ops_lanes.h. Transfers are synchronous (spec device-runtime.md §13), so one buffer per operand
// is enough. Unaware of what the operators compute.

#include "ops_lanes.h"

#include <ATen/ops.h>
#include <neuron/custom_op.h>
#include <string.h>

namespace c10 {
namespace detail {

CheckMessage& operator<<(CheckMessage& message, IntArrayRef shape) {
  message << '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) message << ", ";
    message << static_cast<long long>(shape[i]);
  }
  return message << ']';
}

}  // namespace detail
}  // namespace c10

namespace at {
namespace ops {
namespace {

// Raw elements stand at the end of the lanes they are about to fill, so widening from the front never overwrites an
// element before it is read: lane k ends where element k + 1 starts at the latest.
template <typename T>
inline T raw_element(const char* raw, size_t k) {
  T value;
  memcpy(&value, raw + k * sizeof(T), sizeof value);
  return value;
}

template <typename T>
void widen_to_int(Lane* lanes, const char* raw, size_t n) {
  for (size_t k = 0; k < n; ++k) lanes[k].i = raw_element<T>(raw, k);
}

template <typename T>
void widen_to_float(Lane* lanes, const char* raw, size_t n) {
  for (size_t k = 0; k < n; ++k) lanes[k].f = raw_element<T>(raw, k);
}

template <typename T>
void narrow_from_int(char* raw, const Lane* lanes, size_t n) {
  for (size_t k = 0; k < n; ++k) {
    const T value = static_cast<T>(lanes[k].i);
    memcpy(raw + k * sizeof(T), &value, sizeof value);
  }
}

template <typename T>
void narrow_from_float(char* raw, const Lane* lanes, size_t n) {
  for (size_t k = 0; k < n; ++k) {
    const T value(lanes[k].f);
    memcpy(raw + k * sizeof(T), &value, sizeof value);
  }
}

void load(Lane* lanes, const Tensor& tensor, size_t first, size_t n) {
  const ScalarType type = tensor.scalar_type();
  const size_t size = c10::elementSize(type);
  char* raw = reinterpret_cast<char*>(lanes) + (sizeof(Lane) - size) * n;
  neuron_memcpy(static_cast<void*>(raw), tensor.q7_data_ptr().hbm_addr + static_cast<unsigned long long>(first) * size,
                n * size);
  switch (type) {
    case ScalarType::Byte:
      return widen_to_int<uint8_t>(lanes, raw, n);
    case ScalarType::Char:
      return widen_to_int<int8_t>(lanes, raw, n);
    case ScalarType::Short:
      return widen_to_int<int16_t>(lanes, raw, n);
    case ScalarType::Half:
      return widen_to_float<c10::Half>(lanes, raw, n);
    case ScalarType::BFloat16:
      return widen_to_float<c10::BFloat16>(lanes, raw, n);
    default:  // Int and Float are lanes already.
      return;
  }
}

// Narrows in place from the front: element k ends before lane k + 1 starts.
void store(const Tensor& tensor, size_t first, Lane* lanes, size_t n) {
  const ScalarType type = tensor.scalar_type();
  const size_t size = c10::elementSize(type);
  char* raw = reinterpret_cast<char*>(lanes);
  switch (type) {
    case ScalarType::Byte:
    case ScalarType::Char:
      narrow_from_int<uint8_t>(raw, lanes, n);
      break;
    case ScalarType::Short:
      narrow_from_int<uint16_t>(raw, lanes, n);
      break;
    case ScalarType::Half:
      narrow_from_float<c10::Half>(raw, lanes, n);
      break;
    case ScalarType::BFloat16:
      narrow_from_float<c10::BFloat16>(raw, lanes, n);
      break;
    default:
      break;
  }
  neuron_memcpy(tensor.q7_data_ptr().hbm_addr + static_cast<unsigned long long>(first) * size, static_cast<void*>(raw),
                n * size);
}

void fetch(Lane* lanes, const Operand& operand, size_t first, size_t n) {
  if (operand.tensor) {
    load(lanes, *operand.tensor, first, n);
  } else if (operand.is_value) {
    for (size_t k = 0; k < n; ++k) lanes[k] = operand.value;
  }
}

void check_operand(const char* op, const Tensor& result, const Operand& operand) {
  if (!operand.tensor) return;
  const Tensor& tensor = *operand.tensor;
  TORCH_CHECK(tensor.scalar_type() == result.scalar_type(), "", op, ": element types ",
              c10::toString(result.scalar_type()), " and ", c10::toString(tensor.scalar_type()),
              " differ; operators do not promote");
  TORCH_CHECK(tensor.sizes() == result.sizes(), "", op, ": shapes ", result.sizes(), " and ", tensor.sizes(),
              " differ; operators do not broadcast");
  TORCH_CHECK(tensor.is_contiguous(), "", op, ": operands must be contiguous");
}

}  // namespace

Staging::Staging() : block_(nullptr), lanes_(local_), capacity_(kSmallest) {
  // A kernel may hold most of TCM itself; a smaller block is slower, not wrong.
  for (size_t lanes = kLargest; lanes > kSmallest; lanes /= 4) {
    if (neuron_dataram_allocate(lanes * sizeof(Lane), &block_) == 0) {
      lanes_ = static_cast<Lane*>(block_);
      capacity_ = lanes;
      return;
    }
  }
}

Staging::~Staging() {
  if (block_) neuron_dataram_deallocate(block_);
}

Lane cast(const char* op, const Scalar& scalar, ScalarType dtype) {
  Lane lane;
  if (c10::isFloatingType(dtype)) {
    lane.f = static_cast<float>(scalar.toDouble());
    if (dtype == ScalarType::Half) lane.f = c10::Half(lane.f);
    if (dtype == ScalarType::BFloat16) lane.f = c10::BFloat16(lane.f);
    return lane;
  }
  TORCH_CHECK(!scalar.isFloatingPoint(), "", op, ": a floating-point Scalar with a tensor of ", c10::toString(dtype),
              " elements would need promotion; operators do not promote");
  lane.i = static_cast<int32_t>(scalar.toLong());
  if (dtype == ScalarType::Byte) lane.i = static_cast<uint8_t>(lane.i);
  if (dtype == ScalarType::Char) lane.i = static_cast<int8_t>(lane.i);
  if (dtype == ScalarType::Short) lane.i = static_cast<int16_t>(lane.i);
  return lane;
}

Tensor& map(const Op& op, Tensor& result, const Operand& a, const Operand& b, const Lane* extra) {
  const ScalarType type = result.scalar_type();
  const LaneFn fn = c10::isFloatingType(type) ? op.on_float : type == ScalarType::Long ? nullptr : op.on_int;
  TORCH_CHECK(fn, "\"", op.name, "\" not implemented for '", c10::toString(type), "'");
  check_operand(op.name, result, a);
  check_operand(op.name, result, b);
  TORCH_CHECK(result.is_contiguous(), "", op.name, ": result must be contiguous");

  const size_t total = static_cast<size_t>(result.numel());
  if (total == 0) return result;
  Staging staging;
  const size_t block = staging.capacity() / 2;
  Lane* first = staging.lanes();
  Lane* second = first + block;
  if (!b.tensor) fetch(second, b, 0, block);
  for (size_t done = 0; done < total;) {
    const size_t n = total - done < block ? total - done : block;
    fetch(first, a, done, n);
    if (b.tensor) load(second, *b.tensor, done, n);
    fn(first, second, n, extra);
    store(result, done, first, n);
    done += n;
  }
  return result;
}

Tensor map_new(const Op& op, const Tensor& model, const Operand& a, const Operand& b, const Lane* extra) {
  Tensor result = detail::make_tensor(model.sizes(), model.scalar_type());
  map(op, result, a, b, extra);
  return result;
}

void fill_elements(unsigned long long address, size_t count, const void* element, size_t size) {
  Staging staging;
  char* bytes = reinterpret_cast<char*>(staging.lanes());
  const size_t room = staging.capacity() * sizeof(Lane) / size;
  const size_t block = count < room ? count : room;
  for (size_t k = 0; k < block; ++k) memcpy(bytes + k * size, element, size);
  while (count) {
    const size_t n = count < block ? count : block;
    neuron_memcpy(address, static_cast<void*>(bytes), n * size);
    address += static_cast<unsigned long long>(n) * size;
    count -= n;
  }
}

}  // namespace ops
}  // namespace at
