// SPDX-License-Identifier: Apache-2.0
//
// c10::NeuronStorageImpl: device memory with its owner and size. Facts: spec device-runtime.md §5.3.
#pragma once

#include <c10/util/intrusive_ptr.h>
#include <neuron_torch_extension/Q7PtrType.h>

namespace c10 {

/// A counted block of device memory; the memory goes when `data_ptr()` does.
class NeuronStorageImpl final : public intrusive_ptr_target {
 public:
  NeuronStorageImpl(size_t nbytes, UniqueQ7Ptr data_ptr)
      : data_ptr_(static_cast<UniqueQ7Ptr&&>(data_ptr)), size_bytes_(static_cast<int64_t>(nbytes)) {}
  ~NeuronStorageImpl() override;

  UniqueQ7Ptr& data_ptr() { return data_ptr_; }
  /// Device address of the first byte.
  Q7PtrType data() const { return data_ptr_.get(); }
  /// Size in bytes.
  size_t nbytes() const { return static_cast<size_t>(size_bytes_); }
  void set_nbytes(size_t nbytes) { size_bytes_ = static_cast<int64_t>(nbytes); }

 private:
  UniqueQ7Ptr data_ptr_;
  int64_t size_bytes_;
};

#if defined(__XTENSA__)
static_assert(sizeof(NeuronStorageImpl) == 48, "spec device-runtime.md §5.3");
#endif

}  // namespace c10
