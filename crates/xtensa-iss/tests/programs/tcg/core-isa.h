// What the core of these tests has, for qemu's tests; what only a supervisor uses is said to be absent.
#pragma once

#define XCHAL_HAVE_BE 0
#define XCHAL_HAVE_WINDOWED 1
#define XCHAL_NUM_AREGS 64
#define XCHAL_HAVE_ADDX 1
#define XCHAL_HAVE_BOOLEANS 1
#define XCHAL_HAVE_CLAMPS 1
#define XCHAL_HAVE_DIV32 1
#define XCHAL_HAVE_LOOPS 1
#define XCHAL_HAVE_MAC16 0
#define XCHAL_HAVE_MINMAX 1
#define XCHAL_HAVE_MUL16 1
#define XCHAL_HAVE_MUL32 1
#define XCHAL_HAVE_NSA 1
#define XCHAL_HAVE_RELEASE_SYNC 1
#define XCHAL_HAVE_S32C1I 1
#define XCHAL_HAVE_SEXT 1
#define XCHAL_HAVE_FP 1
// Says that operations raise flags. The steps of a division themselves the assembler has not.
#ifndef XCHAL_HAVE_FP_DIV
#define XCHAL_HAVE_FP_DIV 1
#endif
#define XCHAL_HAVE_FP_SQRT 0
#define XCHAL_HAVE_DFP 0
#define XCHAL_HAVE_EXCLUSIVE 0
#define XCHAL_HAVE_FLIX3 0
// Old enough for atomic stores that need no permission first; what is not aligned stops the program.
#define XCHAL_HW_VERSION 220000
#define XCHAL_UNALIGNED_LOAD_EXCEPTION 1
#define XCHAL_UNALIGNED_LOAD_HW 0
#define XCHAL_UNALIGNED_STORE_EXCEPTION 1
#define XCHAL_UNALIGNED_STORE_HW 0
