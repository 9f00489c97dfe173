/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <malloc.h>
#include <errno.h>
void *aligned_alloc (size_t a, size_t n) { return memalign (a, n); }
int posix_memalign (void **p, size_t a, size_t n)
{ void *q = memalign (a, n); if (!q) return ENOMEM; *p = q; return 0; }
/* no Japanese multibyte locales */
unsigned _jp2uc_l (unsigned c, void *l) { return c; }
unsigned _uc2jp_l (unsigned c, void *l) { return c; }
