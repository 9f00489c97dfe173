// SPDX-License-Identifier: Apache-2.0
//
// The <torch/torch.h> of shape functions: tensors that have a shape and an element type and nothing else. The same names as
// for kernels, from the same c10 headers, so that one spelling serves both halves of an operator.
// Reading or writing elements does not compile: a shape function runs before there is any data (spec user-api.md §1).
// Needs C++17. Include path: this directory's parent, then sdk/include.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/typeid.h>

#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

/// A shape as `[2, 3]`.
inline void put(std::string& text, IntArrayRef shape) {
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  text += ']';
}

inline void put(std::string& text, ScalarType type) { text += toString(type); }

/// Into a stream, where there are streams.
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, IntArrayRef shape) {
  std::string text;
  put(text, shape);
  return out << text.c_str();
}

template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, ScalarType type) {
  return out << toString(type);
}

namespace detail {

[[noreturn]] inline void scalar_overflow(const char* type) {
  check_failed("value cannot be converted to type ", type, " without overflow");
}

template <typename...>
constexpr bool kNever = false;

}  // namespace detail
}  // namespace c10

#define TORCH_HOST_NO_DATA_                                                                            \
  "a shape function runs before the input data exists: it may look at sizes() and dtype() only, and " \
  "element access belongs into the kernel"

namespace at {

using namespace c10;

/// Shape and element type of a tensor. Copies refer to one description, as handles do on the device.
class Tensor {
 public:
  /// An undefined tensor: `defined()` is false and every other query throws.
  Tensor() = default;
  /// A tensor of this shape and type; `torch::empty` is the spelling for shape functions.
  Tensor(IntArrayRef sizes, ScalarType dtype) {
    for (int64_t extent : sizes) TORCH_CHECK(extent >= 0, "negative extent in shape ", sizes);
    TORCH_CHECK(sizes.size() <= 8, "a tensor has at most 8 dimensions, this shape has ", sizes.size(), ": ", sizes);
    impl_ = std::make_shared<const Impl>(Impl{std::vector<int64_t>(sizes.begin(), sizes.end()), dtype});
  }

  bool defined() const { return impl_ != nullptr; }
  /// Extents, outermost first.
  IntArrayRef sizes() const { return IntArrayRef(impl().sizes.data(), impl().sizes.size()); }
  /// Extent of dimension `d`; negative values count from the last dimension.
  int64_t size(int64_t d) const {
    const int64_t rank = dim();
    TORCH_CHECK(d >= -rank && d < rank, "dimension ", d, " of a tensor of rank ", rank);
    return impl().sizes[static_cast<size_t>(d < 0 ? d + rank : d)];
  }
  /// Rank.
  int64_t dim() const { return static_cast<int64_t>(impl().sizes.size()); }
  int64_t ndimension() const { return dim(); }
  /// Number of elements.
  int64_t numel() const {
    int64_t count = 1;
    for (int64_t extent : impl().sizes) {
      TORCH_CHECK(!__builtin_mul_overflow(count, extent, &count), "the shape ", sizes(), " has too many elements");
    }
    return count;
  }
  /// Element strides of the row-major layout that every tensor has here.
  std::vector<int64_t> strides() const {
    std::vector<int64_t> result(impl().sizes.size());
    int64_t step = 1;
    for (size_t d = result.size(); d-- > 0;) {
      result[d] = step;
      TORCH_CHECK(!__builtin_mul_overflow(step, impl().sizes[d], &step), "the shape ", sizes(), " has too many elements");
    }
    return result;
  }
  int64_t stride(int64_t d) const { return strides()[static_cast<size_t>(d < 0 ? d + dim() : d)]; }
  ScalarType scalar_type() const { return impl().dtype; }
  caffe2::TypeMeta dtype() const { return caffe2::TypeMeta(scalar_type()); }
  TensorOptions options() const { return TensorOptions(scalar_type()); }
  size_t itemsize() const { return elementSize(scalar_type()); }
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  bool is_contiguous() const { return true; }
  /// No effect: there is nothing to fill.
  Tensor& fill_(const Scalar&) const { return const_cast<Tensor&>(*this); }

  template <typename T, size_t N>
  void accessor() const {
    static_assert(c10::detail::kNever<T>, TORCH_HOST_NO_DATA_);
  }
  template <typename T>
  void read_stream_accessor() const {
    static_assert(c10::detail::kNever<T>, TORCH_HOST_NO_DATA_);
  }
  template <typename T>
  void write_stream_accessor() const {
    static_assert(c10::detail::kNever<T>, TORCH_HOST_NO_DATA_);
  }
  template <typename T = void>
  void tcm_accessor() const {
    static_assert(c10::detail::kNever<T>, TORCH_HOST_NO_DATA_);
  }
  template <typename T = void>
  T* data_ptr() const {
    static_assert(c10::detail::kNever<T>, TORCH_HOST_NO_DATA_);
    return nullptr;
  }
  template <typename T>
  T item() const {
    static_assert(c10::detail::kNever<T>, TORCH_HOST_NO_DATA_);
    return T();
  }

 private:
  struct Impl {
    std::vector<int64_t> sizes;
    ScalarType dtype;
  };
  const Impl& impl() const {
    TORCH_CHECK(impl_, "this tensor is undefined");
    return *impl_;
  }

  std::shared_ptr<const Impl> impl_;
};

// ---- Factories (spec user-api.md §4). ----

inline Tensor empty(IntArrayRef size, TensorOptions options) { return Tensor(size, options.scalar_type()); }
inline Tensor full(IntArrayRef size, const Scalar&, TensorOptions options) { return empty(size, options); }
inline Tensor zeros(IntArrayRef size, TensorOptions options) { return empty(size, options); }
inline Tensor ones(IntArrayRef size, TensorOptions options) { return empty(size, options); }
inline Tensor eye(int64_t n, int64_t m, TensorOptions options) { return empty({n, m}, options); }
inline Tensor empty_like(const Tensor& self) { return Tensor(self.sizes(), self.scalar_type()); }
inline Tensor empty_like(const Tensor& self, TensorOptions options) {
  return options.has_dtype() ? empty(self.sizes(), options) : empty_like(self);
}
inline Tensor zeros_like(const Tensor& self) { return empty_like(self); }

// ---- Operators (spec user-api.md §6): the shape and type that the device's would have, under its rules. ----

namespace detail {

inline Tensor like(const char* op, const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), "", op, ": element types ", self.scalar_type(), " and ",
              other.scalar_type(), " differ; operators do not promote");
  TORCH_CHECK(self.sizes() == other.sizes(), "", op, ": shapes ", self.sizes(), " and ", other.sizes(),
              " differ; operators do not broadcast");
  return empty_like(self);
}

}  // namespace detail

#define TORCH_HOST_UNARY_(name)                                                 \
  inline Tensor name(const Tensor& self) { return empty_like(self); }           \
  inline Tensor& name##_out(Tensor& result, const Tensor& self) {               \
    detail::like(#name, result, self);                                          \
    return result;                                                              \
  }
#define TORCH_HOST_TENSOR_TENSOR_(name, ...)                                                                        \
  inline Tensor name(const Tensor& self, const Tensor& other __VA_ARGS__) { return detail::like(#name, self, other); } \
  inline Tensor& name##_out(Tensor& result, const Tensor& self, const Tensor& other __VA_ARGS__) {                  \
    detail::like(#name, result, detail::like(#name, self, other));                                                  \
    return result;                                                                                                  \
  }
#define TORCH_HOST_TENSOR_SCALAR_(name, ...)                                                             \
  inline Tensor name(const Tensor& self, const Scalar& __VA_ARGS__) { return empty_like(self); }         \
  inline Tensor& name##_out(Tensor& result, const Tensor& self, const Scalar& __VA_ARGS__) {             \
    detail::like(#name, result, self);                                                                   \
    return result;                                                                                       \
  }
#define TORCH_HOST_SCALAR_TENSOR_(name)                                                     \
  inline Tensor name(const Scalar&, const Tensor& other) { return empty_like(other); }      \
  inline Tensor& name##_out(Tensor& result, const Scalar&, const Tensor& other) {           \
    detail::like(#name, result, other);                                                     \
    return result;                                                                          \
  }

#define TORCH_HOST_COMMA_ ,
#define TORCH_HOST_ALPHA_ TORCH_HOST_COMMA_ const Scalar& = 1

TORCH_HOST_UNARY_(abs)
TORCH_HOST_UNARY_(ceil)
TORCH_HOST_UNARY_(floor)
TORCH_HOST_UNARY_(sin)
TORCH_HOST_UNARY_(cos)
TORCH_HOST_UNARY_(tan)
TORCH_HOST_UNARY_(log)
TORCH_HOST_UNARY_(log2)
TORCH_HOST_UNARY_(log10)
TORCH_HOST_UNARY_(exp)
TORCH_HOST_UNARY_(bitwise_not)
inline Tensor bitwise_not(Tensor& result, const Tensor& self) { return bitwise_not_out(result, self); }
TORCH_HOST_TENSOR_TENSOR_(add, TORCH_HOST_ALPHA_)
TORCH_HOST_TENSOR_SCALAR_(add, TORCH_HOST_ALPHA_)
TORCH_HOST_TENSOR_TENSOR_(sub, TORCH_HOST_ALPHA_)
TORCH_HOST_TENSOR_SCALAR_(sub, TORCH_HOST_ALPHA_)
TORCH_HOST_TENSOR_TENSOR_(mul)
TORCH_HOST_TENSOR_SCALAR_(mul)
TORCH_HOST_TENSOR_TENSOR_(div)
TORCH_HOST_TENSOR_SCALAR_(div)
TORCH_HOST_TENSOR_TENSOR_(pow)
TORCH_HOST_TENSOR_SCALAR_(pow)
TORCH_HOST_SCALAR_TENSOR_(pow)
TORCH_HOST_TENSOR_TENSOR_(bitwise_and)
TORCH_HOST_TENSOR_SCALAR_(bitwise_and)
TORCH_HOST_SCALAR_TENSOR_(bitwise_and)
TORCH_HOST_TENSOR_TENSOR_(bitwise_or)
TORCH_HOST_TENSOR_SCALAR_(bitwise_or)
TORCH_HOST_SCALAR_TENSOR_(bitwise_or)
TORCH_HOST_TENSOR_SCALAR_(clamp, TORCH_HOST_COMMA_ const Scalar&)

#undef TORCH_HOST_UNARY_
#undef TORCH_HOST_TENSOR_TENSOR_
#undef TORCH_HOST_TENSOR_SCALAR_
#undef TORCH_HOST_SCALAR_TENSOR_
#undef TORCH_HOST_ALPHA_
#undef TORCH_HOST_COMMA_

}  // namespace at

namespace torch {
using namespace at;
}  // namespace torch
