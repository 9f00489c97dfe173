/* SPDX-License-Identifier: Apache-2.0
   What libgcc2.c wants to know of the target: 32-bit words, no long double
   wider than double. */
#define BITS_PER_UNIT 8
#define UNITS_PER_WORD 4
#define MIN_UNITS_PER_WORD 4
#define LIBGCC2_HAS_TF_MODE 0
