// SPDX-License-Identifier: Apache-2.0
//
// at::TensorTcmAccessor: bulk copies between a tensor and core-local memory, the one accessor that is good on several cores.
// Facts: spec device-runtime.md §7.3 and §7.4.
#pragma once

#include <neuron_torch_extension/Q7PtrType.h>

namespace at {

/// Copies runs of elements in storage order. No bounds check, no coherence check; complete on return.
template <bool read_only>
class TensorTcmAccessor {
 public:
  explicit TensorTcmAccessor(const c10::Q7PtrType& data) : data_(data) {}

  /// `num_elem` elements from element `tensor_offset` of the flattened tensor to `tcm_ptr`.
  template <typename T>
  void tensor_to_tcm(T* tcm_ptr, size_t tensor_offset, size_t num_elem) {
    neuron_memcpy(static_cast<void*>(tcm_ptr), address<T>(tensor_offset), sizeof(T) * num_elem);
  }
  /// `num_elem` elements from `tcm_ptr` to element `tensor_offset` of the flattened tensor.
  template <typename T>
  void tcm_to_tensor(T* tcm_ptr, size_t tensor_offset, size_t num_elem) {
    static_assert(!read_only, "Can only write to non-const Tensors");
    neuron_memcpy(address<T>(tensor_offset), const_cast<void*>(static_cast<const void*>(tcm_ptr)), sizeof(T) * num_elem);
  }

 private:
  template <typename T>
  unsigned long long address(size_t element) const {
    return data_.template operator+<T>(element).hbm_addr;
  }

  const c10::Q7PtrType data_;
};

namespace neuron {

/// `nbytes` of core-local memory, 64-byte aligned, or null. The pool is 16 KiB per core and is shared with stream accessors.
void* tcm_malloc(size_t nbytes);
/// Gives memory of `tcm_malloc` back; null is harmless.
void tcm_free(void* ptr);

}  // namespace neuron
}  // namespace at
