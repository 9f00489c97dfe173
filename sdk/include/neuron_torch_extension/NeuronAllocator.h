// SPDX-License-Identifier: Apache-2.0
//
// c10::NeuronAllocator: where kernel-made tensors get their storage. Facts: spec device-runtime.md §4.4.
#pragma once

#include <c10/util/Exception.h>
#include <neuron_torch_extension/Q7PtrType.h>

namespace c10 {

/// Stateless front of the HBM heap.
class NeuronAllocator {
 public:
  /// `n` bytes, 64-byte aligned, freed with the returned pointer. Aborts when the heap of this launch is exhausted.
  UniqueQ7Ptr allocate(size_t n) const {
    unsigned long long addr = 0;
    const int ret = neuron_hbm_allocate(n, &addr);
    NEURON_REFERENCE_ASSERT(ret == 0, "NeuronAllocator.h:18 ret == 0");
    return UniqueQ7Ptr(Q7PtrType(addr), Q7Deleter(&delete_ptr));
  }
  static void delete_ptr(Q7PtrType p) { neuron_hbm_deallocate(p.hbm_addr); }
};

static_assert(sizeof(NeuronAllocator) == 1, "spec device-runtime.md §4.4");

/// The one allocator.
NeuronAllocator* GetNeuronAllocator();

}  // namespace c10
