// SPDX-License-Identifier: Apache-2.0
//
// What a generated wrapper calls. Every wrapper is setup, one pull per parameter in declared order, the kernel, return,
// cleanup; nothing may be pulled twice or out of order. Facts: spec customop-abi.md §2.1, §4, §7.
#pragma once

#include <neuron/stack_switch.hpp>
#include <torch/torch.h>

/// A registered launcher.
typedef int (*wrapper_fn)();

/// Collects the arguments of this dispatch; with `hasReturn` the first one is the output descriptor. Aborts on more than
/// 10 descriptors.
void customop_setup(bool hasReturn);
/// The next argument as a tensor over memory that the host owns. Aborts past the last argument, on rank 0 and on element
/// types outside the device's eight.
at::Tensor customop_next_tensor();
/// The next argument as a number: it must be a one-element tensor. Floating types arrive as double, integers as int64.
c10::Scalar customop_next_scalar();
/// The next argument's first four bytes as an int; its element type is not looked at.
int customop_next_int();
/// The next argument's first eight bytes; its element type is not looked at.
long long customop_next_longlong();
/// The next argument's first four bytes as a float; its element type is not looked at.
float customop_next_float();
/// Copies the kernel's result to the output, unless the kernel asked for the output itself. Aborts when the element types
/// differ or no TCM is left to copy through.
void customop_return_tensor(at::Tensor& result);
/// Flushes printed text and fences memory.
void customop_cleanup();
