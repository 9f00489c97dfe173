// SPDX-License-Identifier: Apache-2.0
//
// printf with floating-point conversions: %f, %e and %g of any double, every digit right, rounded to nearest even. The number
// is written out in decimal exactly and then cut; that is slow for exponents far from 0 and small in code. %a is not there.
#include "stdio_format.h"

#include <string.h>

namespace neuron_stdio {

namespace {

/// A non-negative number in decimal: words of four digits around the decimal point, which is after word WHOLE - 1.
class Decimal {
 public:
  /// mantissa * 2^exponent
  Decimal(unsigned int high, unsigned int low, int exponent) {
    memset(word_, 0, sizeof(word_));
    for (int bit = 31; bit >= 0; --bit) twice(high >> bit & 1);
    for (int bit = 31; bit >= 0; --bit) twice(low >> bit & 1);
    for (; exponent > 0; --exponent) twice(0);
    for (; exponent < 0; exponent += SHIFT) shift_right(exponent > -SHIFT ? -exponent : SHIFT);
  }

  /// The digit of weight 10^place.
  int digit(int place) const {
    const int at = index(place);
    if (at < 0 || at >= WORDS) return 0;
    unsigned int word = word_[at];
    for (int k = within(place); k > 0; --k) word /= 10;
    return static_cast<int>(word % 10);
  }

  /// Weight of the first digit that is not 0; `least` when there is none from there on.
  int top(int least) const {
    int place = 4 * (WHOLE - first_) + 3;  // rounding up may have used one word more
    while (place > least && digit(place) == 0) --place;
    return place;
  }

  /// Rounds to a multiple of 10^place, ties to even.
  void round(int place) {
    const int next = digit(place - 1);
    bool up = next > 5;
    if (next == 5) {
      up = digit(place) % 2 != 0;
      for (int k = place - 2; !up && k >= -4 * (WORDS - WHOLE); --k) up = digit(k) != 0;
    }
    for (int k = place; up; ++k) {  // add one there, by digits
      int weight = 1;
      for (int j = within(k); j > 0; --j) weight *= 10;
      if (digit(k) != 9) {
        word_[index(k)] = static_cast<unsigned short>(word_[index(k)] + weight);
        up = false;
      } else {
        word_[index(k)] = static_cast<unsigned short>(word_[index(k)] - 9 * weight);
      }
    }
  }

 private:
  static constexpr int WHOLE = 78;          // 312 digits before the point: 2^1024 has 309
  static constexpr int WORDS = WHOLE + 269; // 1,076 after it: 2^-1074 has 1,074
  static constexpr int SHIFT = 13;          // 10^4 * 2^13 and a word fit 32 bits

  static int index(int place) { return WHOLE - 1 - (place >= 0 ? place / 4 : -((3 - place) / 4)); }
  static int within(int place) { return place & 3; }

  void twice(unsigned int carry) {
    for (int k = WHOLE - 1; k >= first_ || carry != 0; --k) {
      if (k < first_) first_ = k;
      const unsigned int here = 2u * word_[k] + carry;
      carry = here >= 10000;
      word_[k] = static_cast<unsigned short>(carry != 0 ? here - 10000 : here);
    }
  }

  void shift_right(int by) {
    unsigned int rest = 0;
    for (int k = first_; k < WORDS && (k < used_ || rest != 0); ++k) {
      if (k >= used_) used_ = k + 1;
      const unsigned int here = rest * 10000 + word_[k];
      word_[k] = static_cast<unsigned short>(here >> by);
      rest = here & ((1u << by) - 1);
    }
  }

  unsigned short word_[WORDS];
  int first_ = WHOLE;  // words before this one are 0
  int used_ = WHOLE;   // words from here on are 0
};

void print_double(Sink& to, const Conversion& conversion, double value) {
  unsigned long long bits;
  memcpy(&bits, &value, sizeof(bits));
  const unsigned int high = static_cast<unsigned int>(bits >> 32), low = static_cast<unsigned int>(bits);
  const bool negative = high >> 31, upper = conversion.letter < 'a';
  const int field = static_cast<int>(high >> 20 & 0x7FF);
  char sign = negative ? '-' : conversion.plus ? '+' : ' ';
  const int sign_n = negative || conversion.plus || conversion.space;
  if (field == 0x7FF) {
    const bool is_nan = (high & 0xFFFFF) != 0 || low != 0;
    const char* const word = is_nan ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
    return conversion.pad_and_put(to, &sign, sign_n, 0, word, 3);
  }
  Decimal decimal((high & 0xFFFFF) | (field != 0 ? 0x100000u : 0), low, (field != 0 ? field : 1) - 1075);
  const char letter = static_cast<char>(conversion.letter | 0x20);
  int precision = conversion.precision < 0 ? 6 : conversion.precision;
  bool scientific = letter == 'e';
  const bool is_zero = (high & 0x7FFFFFFF) == 0 && low == 0;
  int top = is_zero ? 0 : decimal.top(-1080);  // weight of the first digit
  if (letter == 'g') {
    if (precision == 0) precision = 1;
    decimal.round(top - precision + 1);
    if (!is_zero) top = decimal.top(-1080);
    scientific = top < -4 || top >= precision;
    precision -= scientific ? 1 : top + 1;
    if (!conversion.alternate) {  // no zeros at the end
      while (precision > 0 && decimal.digit((scientific ? top : 0) - precision) == 0) --precision;
    }
  } else {
    decimal.round(scientific ? top - precision : -precision);
    if (!is_zero) top = decimal.top(-1080);
  }
  const int first = scientific ? top : top > 0 ? top : 0, last = (scientific ? top : 0) - precision;
  char exponent[5];
  int exponent_n = 0;
  if (scientific) {
    int power = top < 0 ? -top : top;
    exponent[exponent_n++] = upper ? 'E' : 'e';
    exponent[exponent_n++] = top < 0 ? '-' : '+';
    if (power >= 100) exponent[exponent_n++] = static_cast<char>('0' + power / 100);
    exponent[exponent_n++] = static_cast<char>('0' + power / 10 % 10);
    exponent[exponent_n++] = static_cast<char>('0' + power % 10);
  }
  const bool point = precision > 0 || conversion.alternate;
  const int n = sign_n + (first - last + 1) + point + exponent_n;
  const int padding = conversion.width - n;
  if (!conversion.left && !conversion.zero) to.repeat(' ', padding);
  to.put(&sign, static_cast<size_t>(sign_n));
  if (!conversion.left && conversion.zero) to.repeat('0', padding);
  for (int place = first; place >= last; --place) {
    to.put(static_cast<char>('0' + decimal.digit(place)));
    if (point && place == (scientific ? top : 0)) to.put('.');
  }
  to.put(exponent, static_cast<size_t>(exponent_n));
  if (conversion.left) to.repeat(' ', padding);
}

}  // namespace

}  // namespace neuron_stdio

using neuron_stdio::Sink;

extern "C" {

int vprintf(const char* text, va_list arguments) {
  Sink host = {nullptr, 0, true, 0};
  return neuron_stdio::format(host, text, arguments, &neuron_stdio::print_double);
}

int printf(const char* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  const int n = vprintf(text, arguments);
  va_end(arguments);
  return n;
}

int vsnprintf(char* to, size_t size, const char* text, va_list arguments) {
  Sink buffer = {to, size == 0 ? 0 : size - 1, false, 0};
  const int n = neuron_stdio::format(buffer, text, arguments, &neuron_stdio::print_double);
  if (size != 0) *buffer.at = '\0';
  return n;
}

int vsprintf(char* to, const char* text, va_list arguments) { return vsnprintf(to, ~static_cast<size_t>(0), text, arguments); }

int sprintf(char* to, const char* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  const int n = vsprintf(to, text, arguments);
  va_end(arguments);
  return n;
}

int snprintf(char* to, size_t size, const char* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  const int n = vsnprintf(to, size, text, arguments);
  va_end(arguments);
  return n;
}
}
