// SPDX-License-Identifier: Apache-2.0
//
// How every operator runs: blocks of elements travel from device memory into core-local buffers, are widened to lanes
// of 32 bits, pass through one small function, and go back. There is one lane for floats and one for integers, so an
// operator costs two loops instead of seven. Unaware of what the operators compute.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <stddef.h>
#include <stdint.h>

namespace c10 {
namespace detail {

/// A shape as `[2, 3]`, for TORCH_CHECK.
CheckMessage& operator<<(CheckMessage& message, IntArrayRef shape);

}  // namespace detail
}  // namespace c10

namespace at {
namespace ops {

/// One element on its way through an operator: `f` for floating types, `i` (sign- or zero-extended) for integral ones.
union Lane {
  float f;
  int32_t i;
};

/// a[k] = f(a[k], b[k]) for k < n. `extra` is what the operator passed to `map`: alpha, or both bounds of a clamp.
typedef void (*LaneFn)(Lane* a, const Lane* b, size_t n, const Lane* extra);

/// What is computed: a name for messages, and the function for either kind of lane (null: not defined for it).
struct Op {
  const char* name;
  LaneFn on_float;
  LaneFn on_int;
};

/// A tensor, a number repeated for every element, or nothing (the second operand of a unary operator).
struct Operand {
  Operand() : tensor(nullptr), is_value(false) { value.i = 0; }
  Operand(const Tensor& t) : tensor(&t), is_value(false) { value.i = 0; }
  explicit Operand(Lane v) : tensor(nullptr), is_value(true), value(v) {}

  const Tensor* tensor;
  bool is_value;
  Lane value;
};

/// `scalar` cast to `dtype`: floats are rounded to it, integers wrap. Stops when a floating-point scalar meets an
/// integral type, because that would be a promotion.
Lane cast(const char* op, const Scalar& scalar, ScalarType dtype);

/// result = op(a, b) element by element, after checking shapes and types against `result`. `result` may be an operand.
Tensor& map(const Op& op, Tensor& result, const Operand& a, const Operand& b = Operand(), const Lane* extra = nullptr);

/// The same into a new tensor like `model`.
Tensor map_new(const Op& op, const Tensor& model, const Operand& a, const Operand& b = Operand(),
               const Lane* extra = nullptr);

/// Writes `count` copies of the `size`-byte element at `element` (1, 2, 4 or 8 bytes) from device address `address` on.
void fill_elements(unsigned long long address, size_t count, const void* element, size_t size);

/// A block of core-local memory for one transfer after the other: from TCM while there is some, else on the stack.
class Staging {
 public:
  Staging();
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  Lane* lanes() { return lanes_; }
  /// Lanes that fit.
  size_t capacity() const { return capacity_; }

 private:
  static const size_t kLargest = 1024;
  static const size_t kSmallest = 64;

  void* block_;
  Lane* lanes_;
  size_t capacity_;
  Lane local_[kSmallest];
};

}  // namespace ops
}  // namespace at
