// SPDX-License-Identifier: Apache-2.0
//
// Core-local memory for kernels. Facts: spec device-runtime.md §7.4.
#include <ATen/core/TensorTcmAccessor.h>

namespace at {
namespace neuron {

void* tcm_malloc(size_t nbytes) {
  void* ptr = nullptr;
  return neuron_dataram_allocate(nbytes, &ptr, 0) == 0 ? ptr : nullptr;
}

void tcm_free(void* ptr) {
  if (ptr != nullptr) neuron_dataram_deallocate(ptr);
}

}  // namespace neuron
}  // namespace at
