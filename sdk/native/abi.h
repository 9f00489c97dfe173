// SPDX-License-Identifier: Apache-2.0
//
// The two functions of a native twin that others see. Unaware of tensors, the device's and PyTorch's: who includes this has either.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

/// An argument as it travels to the device, too: a tensor, or a number as a tensor of one element. The output is the first.
struct gpsimd_native_argument {
  /// Row-major, without padding; stays the caller's.
  void* data;
  const int64_t* sizes;
  uint32_t rank;
  /// PyTorch's number of the element type.
  uint32_t dtype;
};

/// Raised when anything in this part changes.
enum { GPSIMD_NATIVE_VERSION = 1 };
__attribute__((visibility("default"))) uint32_t gpsimd_native_version();

/// Calls a kernel on one core or eight. 0 when all came to their end; else `message` says why one did not.
__attribute__((visibility("default"))) int gpsimd_native_call(const char* kernel, const gpsimd_native_argument* arguments, uint32_t count,
                                                              uint32_t cores, char* message, size_t room);
}
