/* SPDX-License-Identifier: Apache-2.0
   The host headers libgcc2.c uses, and the one function. */
#include <stddef.h>
#include <limits.h>
void abort (void) __attribute__ ((__noreturn__));
