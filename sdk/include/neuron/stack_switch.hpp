// SPDX-License-Identifier: Apache-2.0
//
// Running a wrapper on a stack of the size it asked for. Facts: spec customop-abi.md §2.2 and §8.
#pragma once

#include <stdint.h>

/// Largest stack that can be requested, in bytes. The public guide promises 400 KB only.
#define MAX_STACK_SIZE 0x400000

/// Stack that every operator of this library gets, in bytes; set with -DSTACK_SIZE=n when the wrapper is compiled.
#ifndef STACK_SIZE
#define STACK_SIZE 4196
#endif

static_assert(STACK_SIZE <= MAX_STACK_SIZE, "STACK_SIZE cannot be greater than 4MB.");

/// True while a wrapper runs on a stack in HBM; such a wrapper must end with a jump to `switchBack`.
extern bool switched_stack;

/// Prepares heaps and translation for one launch and runs `wrapper_fn_ptr` (a `void()` function) on the current stack if
/// it has `stack_size` bytes left, else on a new one in HBM. Returns 0; aborts when HBM has no room for the stack.
int switch_stack_or_call_wrapper(unsigned int wrapper_fn_ptr, unsigned int stack_size = STACK_SIZE);

/// Where such a wrapper jumps. Not a function to call: it returns to the launcher.
extern "C" void switchBack();

/// Internal: a stack of `size` bytes whose top block names the entry and the resume address. Returns its SoC address.
unsigned long long allocate_hbm_stack(unsigned int size, unsigned int entry_PC, unsigned int return_PC);
/// Internal: gives a stack back; 0, or nonzero when `ptr` is none.
int deallocate_hbm_stack(unsigned long long ptr);
