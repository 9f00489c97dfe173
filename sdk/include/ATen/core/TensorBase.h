// SPDX-License-Identifier: Apache-2.0
//
// at::TensorBase: shape queries, storage address and coherence policy of a tensor handle.
// Unaware of accessors and operators. Facts: spec device-runtime.md §5.1.
#pragma once

#include <ATen/core/Coherence.h>
#include <c10/core/NeuronTensorImpl.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/util/typeid.h>

namespace at {

using c10::IntArrayRef;
using c10::ScalarType;
using c10::TensorOptions;

/// The 20-byte handle below at::Tensor: implementation pointer, then the coherence bookkeeping.
class TensorBase {
 public:
  TensorBase() = default;
  explicit TensorBase(c10::intrusive_ptr<c10::NeuronTensorImpl> impl)
      : impl_(static_cast<c10::intrusive_ptr<c10::NeuronTensorImpl>&&>(impl)) {}

  /// True when the handle refers to a tensor.
  bool defined() const { return static_cast<bool>(impl_); }
  /// Extent of every dimension, outermost first.
  IntArrayRef sizes() const { return IntArrayRef(impl().sizes_data(), impl().dim()); }
  /// Distance between neighbours in every dimension, in elements.
  IntArrayRef strides() const { return IntArrayRef(impl().strides_data(), impl().dim()); }
  /// Extent of dimension `d`; negative values count from the last dimension. Aborts when out of range.
  int64_t size(int64_t d) const { return impl().sizes_data()[wrap_dim(d)]; }
  /// Stride of dimension `d` in elements; `d` as in `size`.
  int64_t stride(int64_t d) const { return impl().strides_data()[wrap_dim(d)]; }
  /// Rank.
  int64_t dim() const { return impl().dim(); }
  /// Rank.
  int64_t ndimension() const { return dim(); }
  /// Number of elements.
  int64_t numel() const { return impl().numel(); }
  /// Bytes of one element.
  size_t itemsize() const { return impl().itemsize(); }
  /// Bytes of one element.
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  /// `numel() * itemsize()`.
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  /// Element type; compares with the dtype constants.
  caffe2::TypeMeta dtype() const { return caffe2::TypeMeta(scalar_type()); }
  /// Element type.
  ScalarType scalar_type() const { return impl().scalar_type(); }
  /// What a factory needs to make a tensor of the same element type.
  TensorOptions options() const { return TensorOptions(scalar_type()); }
  /// Row-major without gaps.
  bool is_contiguous() const { return impl().is_contiguous(); }
  /// Every element of the covered storage belongs to exactly one index.
  bool is_non_overlapping_and_dense() const { return impl().is_non_overlapping_and_dense(); }
  /// True when both handles refer to one tensor.
  bool is_same(const TensorBase& other) const { return impl_.get() == other.impl_.get(); }

  /// Device address of the first element (spec device-runtime.md §4). It is a SoC address: reach the bytes
  /// with `neuron_memcpy` or `neuron_translate`.
  c10::Q7PtrType q7_data_ptr() const { return impl().q7_data_ptr(); }
  /// A raw pointer to device memory cannot exist here, and the reference stops the program that asks for one.
  void* data_ptr() const C10_UNSUPPORTED_("tensors lie in device memory, which no pointer reaches: use accessor<float, 1>() or tcm_accessor()");
  template <typename T>
  T* data_ptr() const C10_UNSUPPORTED_("tensors lie in device memory, which no pointer reaches: use accessor<float, 1>() or tcm_accessor()");

  /// How this handle reacts to accessors that may see stale data.
  CoherencyEnforcer::Policy get_accessor_coherence_policy() const { return coherency_enforcer_.get_policy(); }
  /// Const because the bookkeeping is mutable. Accessors already open are not checked again.
  void set_accessor_coherence_policy(CoherencyEnforcer::Policy policy) const { coherency_enforcer_.set_policy(policy); }

  /// The implementation object; aborts for an undefined tensor.
  c10::NeuronTensorImpl* unsafeGetTensorImpl() const { return &impl(); }

 protected:
  c10::NeuronTensorImpl& impl() const {
    if (!impl_) undefined();
    return *impl_.get();
  }
  /// Aborts unless the tensor has rank `rank` and elements of `element_bytes`.
  void check_accessor(size_t rank, size_t element_bytes) const;
  void check_element_size(size_t element_bytes) const;
  size_t wrap_dim(int64_t d) const;
  [[noreturn]] static void undefined();

  c10::intrusive_ptr<c10::NeuronTensorImpl> impl_;
  mutable CoherencyEnforcer coherency_enforcer_;
};

#if defined(__XTENSA__)
static_assert(sizeof(TensorBase) == 20 && alignof(TensorBase) == 4, "spec device-runtime.md §5.1");
#endif

}  // namespace at
