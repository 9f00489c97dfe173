// SPDX-License-Identifier: Apache-2.0
//
// Layouts of the accessors, checked here once instead of in every kernel: instantiating the templates costs compile time.
// No code. Facts: spec device-runtime.md §22, vector 1.
#include <ATen/core/Tensor.h>

#include <stddef.h>

namespace at {

static_assert(sizeof(TensorBase) == 20 && alignof(TensorBase) == 4, "§5.1");
static_assert(sizeof(TensorElementReference<float, true>) == 24, "§6.2");
static_assert(sizeof(TensorElementReference<int8_t, false>) == 24, "§6.2");
static_assert(sizeof(TensorAccessor<float, 1, true>) == 40, "§6.1");
static_assert(sizeof(TensorAccessor<float, 2, false>) == 40 && alignof(TensorAccessor<float, 2, false>) == 8, "§6.1");
static_assert(sizeof(TensorStream<float>) == 48, "§7.1");
static_assert(sizeof(TensorReadStreamAccessor<float>) == 56, "§7.2");
static_assert(sizeof(TensorWriteStreamAccessor<float>) == 56, "§7.2");
static_assert(sizeof(TensorTcmAccessor<true>) == 16 && sizeof(TensorTcmAccessor<false>) == 16, "§7.3");

}  // namespace at
