// SPDX-License-Identifier: Apache-2.0
//
// One launch: empty heaps, a fresh translation table, and a stack big enough for the wrapper. The swap itself is in
// switch_stack.S. Facts: spec customop-abi.md §8.
#include <neuron/stack_switch.hpp>

#include <neuron/custom_op.h>
#include <stdlib.h>
#include <string.h>

#include "scratch_map.h"
#include "special_registers.h"

bool switched_stack;
extern bool _use_default_malloc;

extern "C" {
/// The context block of the stack that was left; the new stack's top block; the new stack's lowest address.
unsigned int old_stack[1];
unsigned int new_stack[1];
unsigned int new_stack_base[1];
/// Leaves the running stack for `new_stack`, calls the entry named there, and comes back.
void saveContext();
}

namespace {

/// Bytes kept above the first frame of a new stack, zeroed but for the three words below.
constexpr unsigned int TOP_BLOCK = 128;
// Word offsets into that block (spec customop-abi.md §8.3).
constexpr unsigned int RESUME_PC = 32 / 4;
constexpr unsigned int ENTRY_PC = 84 / 4;

unsigned int stack_pointer() {
  unsigned int sp;
  asm volatile("mov %0, a1" : "=r"(sp));
  return sp;
}

}  // namespace

unsigned long long allocate_hbm_stack(unsigned int size, unsigned int entry_PC, unsigned int return_PC) {
  unsigned long long addr = 0;
  neuron_hbm_allocate(size, &addr, 0);
  // There is no smaller stack to fall back to; a stack below the block itself could hold no frame.
  if (addr == 0 || size < 2 * TOP_BLOCK) abort();
  // Scratch HBM lies behind a pinned window, so this address stays good while the stack lives.
  const unsigned int base = reinterpret_cast<uintptr_t>(neuron_translate(neuron_translate_ctx(), addr));
  const unsigned int sp = ((base + size) & ~15u) - TOP_BLOCK;
  unsigned int* const block = reinterpret_cast<unsigned int*>(sp);
  memset(block, 0, TOP_BLOCK);
  block[RESUME_PC] = return_PC;
  block[ENTRY_PC] = entry_PC;
  new_stack[0] = sp;
  new_stack_base[0] = base;
  return addr;
}

int deallocate_hbm_stack(unsigned long long ptr) { return neuron_hbm_deallocate(ptr); }

int switch_stack_or_call_wrapper(unsigned int wrapper_fn_ptr, unsigned int stack_size) {
  _use_default_malloc = true;
  init_neuron_hbm_allocator();
  init_neuron_dataram_allocator();
  _init_libc_heap_allocator();
  _use_default_malloc = false;
  _init_translate_ctx();

  const unsigned int remaining = stack_pointer() - read_isl();
  switched_stack = remaining < stack_size;
  if (!switched_stack) {
    reinterpret_cast<void (*)()>(wrapper_fn_ptr)();
    return 0;
  }
  const unsigned long long stack =
      allocate_hbm_stack(stack_size, wrapper_fn_ptr, reinterpret_cast<uintptr_t>(&switchBack));
  saveContext();
  if (deallocate_hbm_stack(stack) != 0) abort();
  return 0;
}
