// SPDX-License-Identifier: Apache-2.0
//
// Tensor shapes and the reference counts below them. Unaware of handles (tensor.cpp). Facts: spec device-runtime.md §5.
#include <c10/core/NeuronTensorImpl.h>
#include <c10/util/Exception.h>

namespace c10 {

intrusive_ptr_target::~intrusive_ptr_target() = default;

void intrusive_ptr_target::release() {
  if (--refcount_ == 0) delete this;
}

NeuronStorageImpl::~NeuronStorageImpl() = default;

NeuronTensorImpl::~NeuronTensorImpl() = default;

void NeuronTensorImpl::set_sizes_contiguous(IntArrayRef sizes) {
  TORCH_CHECK(sizes.size() <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions, not ", sizes.size());
  dim_ = sizes.size();
  int64_t stride = 1;
  for (size_t d = dim_; d-- != 0;) {
    TORCH_CHECK(sizes[d] >= 0, "dimension ", d, " of a tensor has negative size ", sizes[d]);
    sizes_[d] = sizes[d];
    strides_[d] = stride;
    stride *= sizes[d];
  }
  numel_ = stride;
}

void NeuronTensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides) {
  TORCH_CHECK(sizes.size() == strides.size(), "a shape of ", sizes.size(), " dimensions needs as many strides, not ",
              strides.size());
  set_sizes_contiguous(sizes);
  for (size_t d = 0; d < dim_; ++d) strides_[d] = strides[d];
}

bool NeuronTensorImpl::is_contiguous() const {
  int64_t expected = 1;
  for (size_t d = dim_; d-- != 0;) {
    if (sizes_[d] != 1 && strides_[d] != expected) return false;
    expected *= sizes_[d];
  }
  return true;
}

bool NeuronTensorImpl::is_non_overlapping_and_dense() const {
  // Dense means: visited from the smallest stride up, every stride is the number of elements covered so far.
  bool seen[kMaxDims] = {};
  int64_t expected = 1;
  for (size_t step = 0; step < dim_; ++step) {
    size_t next = kMaxDims;
    for (size_t d = 0; d < dim_; ++d) {
      if (!seen[d] && sizes_[d] != 1 && strides_[d] == expected) next = d;
      if (sizes_[d] == 1) seen[d] = true;
    }
    if (next == kMaxDims) break;
    seen[next] = true;
    expected *= sizes_[next];
  }
  return expected == numel_;
}

}  // namespace c10
