// SPDX-License-Identifier: Apache-2.0
//
// A native twin: kernels compiled for the machine at hand, with this directory's runtime in the place of the device's.
// What its table of ops (templates/native.cpp.j2) sees; callers see abi.h. Unaware of what kernels compute.
#pragma once

#include "abi.h"

#include <neuron/wrapper_api.h>

namespace gpsimd_native {

/// An op: the kernel's name, and what takes its arguments from the call, calls it and hands over its result.
struct Op {
  const char* kernel;
  void (*call)();
};

/// The ops of this library; the last has no name. Generated.
extern const Op ops[];

}  // namespace gpsimd_native
