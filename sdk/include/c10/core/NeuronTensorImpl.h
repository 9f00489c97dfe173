// SPDX-License-Identifier: Apache-2.0
//
// c10::NeuronTensorImpl: shape, element type and storage of a tensor. Kernels see it through at::Tensor only, so its own
// layout is free (spec device-runtime.md §5.4).
#pragma once

#include <c10/core/NeuronStorageImpl.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/intrusive_ptr.h>

namespace c10 {

/// Most dimensions of a tensor; the operator boundary allows no more either (spec user-api.md §10).
constexpr size_t kMaxDims = 8;

/// The object behind one or more at::Tensor handles.
class NeuronTensorImpl final : public intrusive_ptr_target {
 public:
  NeuronTensorImpl(intrusive_ptr<NeuronStorageImpl> storage, ScalarType dtype)
      : storage_(static_cast<intrusive_ptr<NeuronStorageImpl>&&>(storage)), dtype_(dtype) {}
  ~NeuronTensorImpl() override;

  /// Gives the tensor a row-major shape. Aborts for a negative extent or more than `kMaxDims` dimensions.
  void set_sizes_contiguous(IntArrayRef sizes);
  /// Gives the tensor any strided shape over its storage, starting at its first element; strides in elements.
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides);

  size_t dim() const { return dim_; }
  int64_t numel() const { return numel_; }
  const int64_t* sizes_data() const { return sizes_; }
  const int64_t* strides_data() const { return strides_; }
  ScalarType scalar_type() const { return dtype_; }
  /// Bytes of one element.
  size_t itemsize() const { return elementSize(dtype_); }
  bool is_contiguous() const;
  bool is_non_overlapping_and_dense() const;
  Q7PtrType q7_data_ptr() const { return storage_->data(); }
  NeuronStorageImpl& storage() const { return *storage_; }

 private:
  intrusive_ptr<NeuronStorageImpl> storage_;
  ScalarType dtype_;
  size_t dim_ = 0;
  int64_t numel_ = 1;
  int64_t sizes_[kMaxDims];
  int64_t strides_[kMaxDims];
};

}  // namespace c10
