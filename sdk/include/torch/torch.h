// SPDX-License-Identifier: Apache-2.0
//
// The one header a kernel needs: tensors, factories, operators, and the device functions the reference names no header
// for (spec user-api.md §2). `torch::X` is `at::X` is, where it applies, `c10::X`.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <ATen/core/Tensor.h>
#include <ATen/ops.h>
#include <neuron/neuron-utils.hpp>

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
