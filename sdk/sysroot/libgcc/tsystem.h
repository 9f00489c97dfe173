/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <limits.h>
void abort (void) __attribute__ ((__noreturn__));
