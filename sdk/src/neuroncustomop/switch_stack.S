// SPDX-License-Identifier: Apache-2.0
//
// Running a function on another stack under the windowed ABI. Facts: spec customop-abi.md §8.
//
// saveContext calls the entry as any windowed function calls another (callx8), on the new stack. The wrapper's last
// instruction, `j switchBack`, is then an ordinary windowed return, which brings back this frame's registers wherever they
// are by then: in the register file, or spilled to the new stack. Nothing here depends on how a core implements window
// exceptions, and a wrapper that simply returns comes back as well.

#include "special_registers.h"

// Context block, kept in saveContext's frame on the old stack (spec customop-abi.md §8.3).
#define CTX_A0      0
#define CTX_SP      4
#define CTX_LBEG   64
#define CTX_LEND   68
#define CTX_LCOUNT 72
#define CTX_SAR    76
#define CTX_ISL    88
#define CTX_SIZE  128

// The new stack's top block.
#define TOP_ENTRY_PC 84

// Save area of a frame that makes call8s: its caller's a0-a3 below its stack pointer, its own a4-a7 at the top of its frame.
#define SAVE_AREA 32

  .section .text.saveContext, "ax"
  .literal_position
  .align 4
  .global saveContext
  .type saveContext, @function
saveContext:
  entry a1, CTX_SIZE + SAVE_AREA
  s32i a0, a1, CTX_A0
  s32i a1, a1, CTX_SP
  rsr.lbeg a4
  s32i a4, a1, CTX_LBEG
  rsr.lend a4
  s32i a4, a1, CTX_LEND
  rsr.lcount a4
  s32i a4, a1, CTX_LCOUNT
  rsr.sar a4
  s32i a4, a1, CTX_SAR
  rsr_isl 4
  s32i a4, a1, CTX_ISL
  movi a4, 0
  wsr.lcount a4
  isync
  // Every caller's window goes to the old stack: later spills would find this frame's stack pointer changed and miss it.
  call0 xthal_window_spill_nw
  l32i a0, a1, CTX_A0
  movi a4, old_stack
  s32i a1, a4, 0

  .type switchStack, @function
switchStack:
  movi a4, new_stack
  l32i a4, a4, 0
  movi a5, new_stack_base
  l32i a5, a5, 0
  // As MOVSP does: the save area below the stack pointer goes with it. Its second word tells where this frame's own a4-a7
  // are spilled to, which stays its old frame.
  addi a6, a1, -16
  addi a7, a4, -16
  l32i a2, a6, 0
  s32i a2, a7, 0
  l32i a2, a6, 4
  s32i a2, a7, 4
  l32i a2, a6, 8
  s32i a2, a7, 8
  l32i a2, a6, 12
  s32i a2, a7, 12
  l32i a2, a4, TOP_ENTRY_PC
  // The limit of the stack in use is never above its stack pointer: up, the pointer goes first; down, the limit.
  mov a1, a4
  wsr_isl 5
  isync
  callx8 a2

  // Back in this frame, still on the new stack.
  movi a4, old_stack
  l32i a4, a4, 0
  l32i a5, a4, CTX_ISL
  wsr_isl 5
  isync
  l32i a1, a4, CTX_SP
  l32i a5, a4, CTX_LBEG
  wsr.lbeg a5
  l32i a5, a4, CTX_LEND
  wsr.lend a5
  l32i a5, a4, CTX_LCOUNT
  wsr.lcount a5
  l32i a5, a4, CTX_SAR
  wsr.sar a5
  isync
  l32i a0, a4, CTX_A0
  retw
  .size saveContext, . - saveContext

// Reached by a jump from a wrapper's own frame, below anything it calls.
  .section .text.switchBack, "ax"
  .align 4
  .global switchBack
  .type switchBack, @function
switchBack:
  retw
  .size switchBack, . - switchBack
