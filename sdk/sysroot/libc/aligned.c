/* SPDX-License-Identifier: Apache-2.0
   Aligned allocation on top of the small malloc's memalign, and the identity
   for conversions of Japanese multibyte locales, which are left out. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size)
{
  void *p = memalign(alignment, size);
  if (!p)
    return ENOMEM;
  *result = p;
  return 0;
}

unsigned _jp2uc_l(unsigned c, void *locale) { return c; }
unsigned _uc2jp_l(unsigned c, void *locale) { return c; }
