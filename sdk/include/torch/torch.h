// SPDX-License-Identifier: Apache-2.0
//
// The one header a kernel needs: tensors, factories, operators, and the device functions the reference names no header
// for (spec user-api.md §2). `torch::X` is `at::X` is, where it applies, `c10::X`.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <ATen/core/Tensor.h>
#include <ATen/ops.h>
#include <neuron/neuron-utils.hpp>
#include <neuron/printf.h>

// What kernels use of <stdio.h> and <stdlib.h>, declared as there; the headers themselves would be a fifth of the time that this
// one takes to compile. For the rest include them. A native twin (sdk/native) has its machine's, which differ.
#if defined(__XTENSA__)
extern "C" {
void* malloc(size_t) __attribute__((__nothrow__));
void free(void*) __attribute__((__nothrow__));
void abort() __attribute__((__noreturn__));
}
#else
#include <stdlib.h>
#endif

namespace at {
using c10::BFloat16;
using c10::Half;
}  // namespace at

namespace torch {
using namespace at;
}  // namespace torch

/// The operator's output. After this call the tensor that the kernel returns is ignored; on several cores it is the only way
/// to give a result (spec user-api.md §7).
at::Tensor get_dst_tensor();
