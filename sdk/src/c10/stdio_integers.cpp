// SPDX-License-Identifier: Apache-2.0
//
// printf for formats without floating-point conversions, and what it shares with the one for all (stdio_floats.cpp).
// torch/torch.h sends a call here when its format string says so. Complete lines go to the host at once, the rest when the
// call of the operator ends.
#include "stdio_format.h"

#include <string.h>

extern "C" void neuron_emit(int fd, const char* text, size_t n);

namespace neuron_stdio {

namespace {

char line[128];
size_t line_used;

void flush_line() {
  const size_t n = line_used;
  line_used = 0;  // first, because neuron_emit sends what is held back before it
  if (n != 0) neuron_emit(1, line, n);
}

/// Digits of `value`, last first; gives how many.
int digits_of(unsigned long long value, unsigned int base, bool upper, char* to) {
  int n = 0;
  unsigned int high = static_cast<unsigned int>(value >> 32), low = static_cast<unsigned int>(value);
  while (high != 0 || low != 0) {
    unsigned int digit;
    if (high == 0) {
      digit = low % base;
      low /= base;
    } else {  // by 16 bits a step: no division of 64 bits, which would be linked for this alone
      unsigned int parts[4] = {high >> 16, high & 0xFFFF, low >> 16, low & 0xFFFF};
      digit = 0;
      for (unsigned int& part : parts) {
        const unsigned int here = digit << 16 | part;
        part = here / base;
        digit = here % base;
      }
      high = parts[0] << 16 | parts[1];
      low = parts[2] << 16 | parts[3];
    }
    to[n++] = static_cast<char>(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10);
  }
  return n;
}

void print_integer(Sink& to, const Conversion& conversion, unsigned long long value, bool negative) {
  const char letter = conversion.letter;
  const bool is_signed = letter == 'd' || letter == 'i', is_hex = letter == 'x' || letter == 'X' || letter == 'p';
  char reversed[24], text[24];
  const int n = digits_of(negative ? 0 - value : value, letter == 'o' ? 8 : is_hex ? 16 : 10, letter == 'X', reversed);
  for (int k = 0; k < n; ++k) text[k] = reversed[n - 1 - k];
  char prefix[2];
  int prefix_n = 0;
  if (is_signed) {
    if (negative || conversion.plus || conversion.space) prefix[prefix_n++] = negative ? '-' : conversion.plus ? '+' : ' ';
  } else if (is_hex && (letter == 'p' || (conversion.alternate && value != 0))) {
    prefix[prefix_n++] = '0';
    prefix[prefix_n++] = letter == 'X' ? 'X' : 'x';
  }
  int least = conversion.precision < 0 ? 1 : conversion.precision;
  if (letter == 'o' && conversion.alternate && least <= n) least = n + 1;
  int zeros = least > n ? least - n : 0;
  if (conversion.zero && !conversion.left && conversion.precision < 0 && conversion.width > prefix_n + n + zeros) {
    zeros = conversion.width - prefix_n - n;
  }
  conversion.pad_and_put(to, prefix, prefix_n, zeros, text, n);
}

/// A number in a format string.
int number(const char*& text) {
  int n = 0;
  while (*text >= '0' && *text <= '9') n = n * 10 + (*text++ - '0');
  return n;
}

}  // namespace

void Sink::put(char c) {
  ++count;
  if (!is_host) {
    if (room != 0) {
      *at++ = c;
      --room;
    }
    return;
  }
  line[line_used++] = c;
  if (c == '\n' || line_used == sizeof(line)) flush_line();
}

void Sink::put(const char* text, size_t n) {
  while (n-- != 0) put(*text++);
}

void Sink::repeat(char c, int n) {
  while (n-- > 0) put(c);
}

void Conversion::pad_and_put(Sink& to, const char* prefix, int prefix_n, int zeros, const char* text, int n) const {
  const int padding = width - prefix_n - zeros - n;
  if (!left) to.repeat(' ', padding);
  to.put(prefix, static_cast<size_t>(prefix_n));
  to.repeat('0', zeros);
  to.put(text, static_cast<size_t>(n));
  if (left) to.repeat(' ', padding);
}

int format(Sink& to, const char* text, va_list arguments, PrintDouble print_double) {
  for (; *text != '\0'; ++text) {
    if (*text != '%') {
      to.put(*text);
      continue;
    }
    const char* const start = text++;
    Conversion c = {};
    for (;; ++text) {
      if (*text == '-') c.left = true;
      else if (*text == '+') c.plus = true;
      else if (*text == ' ') c.space = true;
      else if (*text == '#') c.alternate = true;
      else if (*text == '0') c.zero = true;
      else break;
    }
    if (*text == '*') {
      ++text;
      c.width = va_arg(arguments, int);
      if (c.width < 0) c.left = true, c.width = -c.width;
    } else {
      c.width = number(text);
    }
    c.precision = -1;
    if (*text == '.') {
      if (*++text == '*') {
        ++text;
        c.precision = va_arg(arguments, int);
      } else {
        c.precision = number(text);
      }
    }
    int longs = 0, shorts = 0;
    for (;; ++text) {
      if (*text == 'l') ++longs;
      else if (*text == 'h') ++shorts;
      else if (*text == 'j') longs = 2;
      else if (*text != 'z' && *text != 't') break;  // as wide as int
    }
    c.letter = *text;
    switch (c.letter) {
    case 'd':
    case 'i': {
      long long value = longs >= 2 ? va_arg(arguments, long long) : va_arg(arguments, int);
      if (shorts == 1) value = static_cast<short>(value);
      if (shorts >= 2) value = static_cast<signed char>(value);
      print_integer(to, c, static_cast<unsigned long long>(value), value < 0);
      break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      unsigned long long value = longs >= 2 ? va_arg(arguments, unsigned long long) : va_arg(arguments, unsigned int);
      if (shorts == 1) value = static_cast<unsigned short>(value);
      if (shorts >= 2) value = static_cast<unsigned char>(value);
      print_integer(to, c, value, false);
      break;
    }
    case 'p':
      print_integer(to, c, reinterpret_cast<uintptr_t>(va_arg(arguments, void*)), false);
      break;
    case 'c': {
      const char one = static_cast<char>(va_arg(arguments, int));
      c.pad_and_put(to, nullptr, 0, 0, &one, 1);
      break;
    }
    case 's': {
      const char* s = va_arg(arguments, const char*);
      if (s == nullptr) s = "(null)";
      int n = 0;
      while ((c.precision < 0 || n < c.precision) && s[n] != '\0') ++n;
      c.pad_and_put(to, nullptr, 0, 0, s, n);
      break;
    }
    case '%':
      to.put('%');
      break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (print_double != nullptr) {
        print_double(to, c, va_arg(arguments, double));
        break;
      }
      // fall through
    default:  // not a conversion of this printf: as it stands
      if (c.letter == '\0') --text;
      to.put(start, static_cast<size_t>(text - start) + 1);
    }
  }
  return to.count;
}

}  // namespace neuron_stdio

using neuron_stdio::Sink;

extern "C" {

/// Sends what a printf left of a line; called by the runtime when this member is linked.
void neuron_flush_line() { neuron_stdio::flush_line(); }

int viprintf(const char* text, va_list arguments) {
  Sink host = {nullptr, 0, true, 0};
  return neuron_stdio::format(host, text, arguments, nullptr);
}

int iprintf(const char* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  const int n = viprintf(text, arguments);
  va_end(arguments);
  return n;
}

// The compiler makes these of a printf without conversions.
int puts(const char* text) {
  Sink host = {nullptr, 0, true, 0};
  host.put(text, strlen(text));
  host.put('\n');
  return host.count;
}

int putchar(int c) {
  Sink host = {nullptr, 0, true, 0};
  host.put(static_cast<char>(c));
  return static_cast<unsigned char>(c);
}
}
