// SPDX-License-Identifier: Apache-2.0
//
// printf, and the choice between its two implementations: a call whose format string is a constant without a floating-point
// conversion goes to iprintf, which is half the size. Declared as in <stdio.h>, which may be included, too.
#pragma once

#include <stdarg.h>

extern "C" {
int printf(const char* __restrict, ...) __attribute__((__format__(__printf__, 1, 2)));
/// printf without %e, %f and %g (sdk/src/c10/stdio_integers.cpp).
int iprintf(const char* __restrict, ...) __attribute__((__format__(__printf__, 1, 2)));
}

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && defined(__XTENSA__)

namespace neuron_stdio {

/// Whether `format` is known here, and is short and without a floating-point conversion. Unrolled, because only constant
/// subscripts of a constant string are constants.
template <int At, int End>
struct IntegersOnly {
  static inline __attribute__((always_inline)) bool from(const char* format, bool in_conversion) {
    const char c = format[At];
    if (c == '\0') return true;
    const bool is_float = c == 'e' || c == 'E' || c == 'f' || c == 'F' || c == 'g' || c == 'G' || c == 'a' || c == 'A';
    if (in_conversion && is_float) return false;
    const bool goes_on = (c >= '0' && c <= '9') || c == '.' || c == '*' || c == '-' || c == '+' || c == ' ' || c == '#' || c == 'l' ||
                         c == 'h' || c == 'z' || c == 'j' || c == 't';
    return IntegersOnly<At + 1, End>::from(format, in_conversion ? goes_on : c == '%');
  }
};
template <int End>
struct IntegersOnly<End, End> {
  static inline __attribute__((always_inline)) bool from(const char*, bool) { return false; }
};

}  // namespace neuron_stdio

extern "C" {
extern inline __attribute__((__always_inline__, __gnu_inline__, __artificial__, __format__(__printf__, 1, 2))) int printf(
    const char* __restrict format, ...) {
  const bool integers_only = neuron_stdio::IntegersOnly<0, 96>::from(format, false);
  if (__builtin_constant_p(integers_only) && integers_only) return iprintf(format, __builtin_va_arg_pack());
  return __builtin_printf(format, __builtin_va_arg_pack());
}
}

#endif
