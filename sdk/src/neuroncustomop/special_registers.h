// SPDX-License-Identifier: Apache-2.0
//
// Special registers that the open assembler has no name for, by number. The one place that knows the numbers; a device
// model keeps the same table.
//
//   name   SR   encoding of RSR at, SR / WSR at, SR    source
//   PRID   235  in the assembler's own table           spec customop-abi.md §2.3
//   ISL    221  24 bits: 0x03DDt0 / 0x13DDt0           our choice: the stack-limit register is documented
//                                                      (lsp-and-memory.md §8, customop-abi.md §8), its number is not;
//                                                      221 is free in the public register table
//
// RSR is op0=0, t, sr, op1=3, op2=0; WSR has op2=1; little-endian bytes are (t << 4), sr, 0x03 or 0x13.
#pragma once

#define SR_ISL 221

#if defined(__ASSEMBLER__)

// clang-format off
.macro rsr_isl t
  .byte (\t) << 4, SR_ISL, 0x03
.endm
.macro wsr_isl t
  .byte (\t) << 4, SR_ISL, 0x13
.endm
// clang-format on

#else

/// Lowest address of the running stack; the hardware traps stores below it.
/// Pinned to a8 because the encoding names its register by number.
static inline unsigned int read_isl() {
  register unsigned int value asm("a8");
  asm volatile(".byte 0x80, 221, 0x03" : "=r"(value));
  return value;
}

/// The processor number register.
static inline unsigned int read_prid() {
  unsigned int value;
  asm volatile("rsr.prid %0" : "=r"(value));
  return value;
}

/// Orders every earlier load and store before every later one.
static inline void memory_barrier() { asm volatile("memw" ::: "memory"); }

#endif
