// SPDX-License-Identifier: Apache-2.0
//
// at::Tensor: the handle that kernels see. Unaware of operators (ATen/ops.h) and of how arguments
// arrive (neuron/wrapper_api.h). Facts: spec user-api.md §5, device-runtime.md §3.4 and §5.
#pragma once

#include <ATen/core/TensorAccessor.h>
#include <ATen/core/TensorBase.h>
#include <ATen/core/TensorStreamAccessor.h>
#include <ATen/core/TensorTcmAccessor.h>
#include <c10/core/Scalar.h>

namespace at {

using c10::Scalar;

/// A reference-counted handle to a tensor of device memory. Copies share the storage; the accessor
/// bookkeeping (Coherence.h) belongs to the handle, not to the storage (spec device-runtime.md §5.1).
class Tensor : public TensorBase {
 public:
  /// An undefined tensor: `defined()` is false and every other query aborts.
  Tensor() = default;
  /// Takes over an implementation object made by `at::detail::make_tensor`.
  explicit Tensor(c10::intrusive_ptr<c10::NeuronTensorImpl> impl) : TensorBase(static_cast<c10::intrusive_ptr<c10::NeuronTensorImpl>&&>(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;

  /// Read-only element access of rank `N`, for the documented kernels' `const torch::Tensor&` arguments.
  /// Aborts when `dim() != N`. `T` must have the element size of `dtype()` (asserted unless NDEBUG).
  template <typename T, size_t N>
  TensorAccessor<T, N, true> accessor() const& {
    check_accessor(N, sizeof(T));
    return TensorAccessor<T, N, true>(q7_data_ptr(), impl_->sizes_data(), impl_->strides_data(), coherency_enforcer_);
  }
  /// Read/write element access of rank `N`.
  template <typename T, size_t N>
  TensorAccessor<T, N, false> accessor() & {
    check_accessor(N, sizeof(T));
    return TensorAccessor<T, N, false>(q7_data_ptr(), impl_->sizes_data(), impl_->strides_data(), coherency_enforcer_);
  }
  template <typename T, size_t N>
  void accessor() && = delete;

  /// A sequential reader of all elements in storage order; holds 4 KiB of TCM while open
  /// (spec device-runtime.md §7.1).
  template <typename T>
  TensorReadStreamAccessor<T> read_stream_accessor() const& {
    check_element_size(sizeof(T));
    return TensorReadStreamAccessor<T>(q7_data_ptr(), nbytes(), coherency_enforcer_);
  }
  template <typename T>
  void read_stream_accessor() && = delete;

  /// A sequential writer of all elements in storage order; data reaches the tensor at `close()` at the latest.
  template <typename T>
  TensorWriteStreamAccessor<T> write_stream_accessor() & {
    check_element_size(sizeof(T));
    return TensorWriteStreamAccessor<T>(q7_data_ptr(), nbytes(), coherency_enforcer_);
  }
  template <typename T>
  void write_stream_accessor() && = delete;

  /// Bulk copies between the tensor and TCM; not tracked by the coherence rules (spec user-api.md §5.3).
  TensorTcmAccessor<true> tcm_accessor() const& { return TensorTcmAccessor<true>(q7_data_ptr()); }
  TensorTcmAccessor<false> tcm_accessor() & { return TensorTcmAccessor<false>(q7_data_ptr()); }
  void tcm_accessor() && = delete;

  /// Sets every element to `value` converted to `dtype()`. Const by documentation, yet it writes
  /// (spec user-api.md §8.4).
  Tensor& fill_(const Scalar& value) const;
};

static_assert(sizeof(Tensor) == sizeof(TensorBase), "Tensor adds no data to TensorBase");

namespace detail {

/// A new contiguous tensor of the given shape; contents uninitialised. Storage comes from the HBM heap of
/// the current launch and is freed with the last handle. Aborts with `NeuronAllocator.h:18 ret == 0` when
/// that heap is exhausted, and with a message for a negative size or more than 8 dimensions.
Tensor make_tensor(c10::IntArrayRef sizes, c10::ScalarType dtype);

/// A contiguous tensor over memory that somebody else owns (`data` is a device address with its context).
Tensor make_borrowed_tensor(c10::Q7PtrType data, c10::IntArrayRef sizes, c10::ScalarType dtype);

}  // namespace detail
}  // namespace at
