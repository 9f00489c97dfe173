// SPDX-License-Identifier: Apache-2.0
//
// The words of a failed check, one part after the other, to fd 2. Unaware of stdio.
#include <c10/util/Exception.h>

#include <stdlib.h>
#include <string.h>

extern "C" void neuron_emit(int fd, const char* text, size_t n);

namespace c10 {
namespace detail {

namespace {

constexpr unsigned long long BILLION = 1000000000ull;

/// Writes digits so that they end before `end`; returns where they start. At least `width` of them.
char* format_digits(char* end, unsigned int value, unsigned int width) {
  for (; value != 0 || width != 0; value /= 10) {
    *--end = static_cast<char>('0' + value % 10);
    if (width != 0) --width;
  }
  return end;
}

}  // namespace

CheckMessage& CheckMessage::operator<<(const char* text) {
  neuron_emit(2, text, strlen(text));
  return *this;
}

CheckMessage& CheckMessage::operator<<(char c) {
  neuron_emit(2, &c, 1);
  return *this;
}

CheckMessage& CheckMessage::operator<<(unsigned long long value) {
  char digits[24];
  char* const end = digits + sizeof(digits);
  char* start = end;
  // Nine digits a step, so that only two divisions are 64 bits wide.
  for (; value >= BILLION; value /= BILLION) start = format_digits(start, static_cast<unsigned int>(value % BILLION), 9);
  start = format_digits(start, static_cast<unsigned int>(value), start == end ? 1 : 0);
  neuron_emit(2, start, static_cast<size_t>(end - start));
  return *this;
}

CheckMessage& CheckMessage::operator<<(long long value) {
  unsigned long long magnitude = static_cast<unsigned long long>(value);
  if (value < 0) {
    *this << '-';
    magnitude = 0 - magnitude;
  }
  return *this << magnitude;
}

CheckMessage& CheckMessage::operator<<(double value) {
  if (value != value) return *this << "nan";
  if (value < 0) {
    *this << '-';
    value = -value;
  }
  if (value >= 1e18) return *this << (value > 1.7976931348623157e308 ? "inf" : "1e18 or more");
  unsigned long long whole = static_cast<unsigned long long>(value);
  unsigned int fraction = static_cast<unsigned int>((value - static_cast<double>(whole)) * 10000 + 0.5);
  if (fraction == 10000) {
    ++whole;
    fraction = 0;
  }
  char digits[4];
  format_digits(digits + sizeof(digits), fraction, sizeof(digits));
  *this << whole << '.';
  neuron_emit(2, digits, sizeof(digits));
  return *this;
}

CheckMessage& CheckMessage::operator<<(const void* address) {
  char digits[2 + 2 * sizeof(void*)] = {'0', 'x'};
  uintptr_t rest = reinterpret_cast<uintptr_t>(address);
  for (size_t at = sizeof(digits); at > 2; rest >>= 4) digits[--at] = "0123456789abcdef"[rest & 15];
  neuron_emit(2, digits, sizeof(digits));
  return *this;
}

void CheckMessage::warn(const char* file, int line) { *this << " (" << file << ':' << line << ")\n"; }

void CheckMessage::fail(const char* file, int line) {
  warn(file, line);
  abort();
}

}  // namespace detail
}  // namespace c10
