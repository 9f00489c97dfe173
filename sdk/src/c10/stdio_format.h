// SPDX-License-Identifier: Apache-2.0
//
// Between the two printf members: where text goes, what a conversion asks for, and who prints a double. newlib's printf is
// 17 KiB and is one function; this is two, so that a kernel that prints integers does not link the decimals of floats.
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

namespace neuron_stdio {

/// Where characters go: the host's standard output, line by line, or a buffer with room for `room` of them.
struct Sink {
  char* at;
  size_t room;
  bool is_host;
  int count;

  void put(char c);
  void put(const char* text, size_t n);
  void repeat(char c, int n);
};

/// A conversion: flags, width, precision (-1 if none) and its letter.
struct Conversion {
  bool left, plus, space, alternate, zero;
  int width, precision;
  char letter;

  /// `n` characters with this prefix (sign, 0x), padded to the width.
  void pad_and_put(Sink& to, const char* prefix, int prefix_n, int zeros, const char* text, int n) const;
};

typedef void (*PrintDouble)(Sink& to, const Conversion& conversion, double value);

/// Formats into `to`; doubles go to `print_double`. Gives the number of characters. Unknown conversions are copied.
int format(Sink& to, const char* text, va_list arguments, PrintDouble print_double);

}  // namespace neuron_stdio
