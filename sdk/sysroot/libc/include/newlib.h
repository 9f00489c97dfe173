/* SPDX-License-Identifier: Apache-2.0
   The choices newlib's configure would write down: full formats in printf
   and scanf, long double as wide as double, single-byte locales. */
#ifndef __NEWLIB_H__
#define __NEWLIB_H__ 1
#include <_newlib_version.h>
#define _WANT_IO_C99_FORMATS 1
#define _WANT_IO_LONG_LONG 1
#define _MB_LEN_MAX 1
#define _HAVE_LONG_DOUBLE 1
#define _LDBL_EQ_DBL 1
#define _HAVE_CC_INHIBIT_LOOP_TO_LIBCALL 1
#define _ATEXIT_DYNAMIC_ALLOC 1
#define _FVWRITE_IN_STREAMIO 1
#define _FSEEK_OPTIMIZATION 1
#define _WIDE_ORIENT 1
#define _UNBUF_STREAM_OPT 1
#define _REENT_GLOBAL_ATEXIT 1
#endif
