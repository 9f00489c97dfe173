// SPDX-License-Identifier: Apache-2.0
//
// The device side of TORCH_CHECK: put the words together, print them, stop. No printf, so a kernel without one stays
// small. Facts: spec device-runtime.md §17, §21.

#include <c10/core/Scalar.h>
#include <c10/util/Exception.h>

// Prints one line and ends the program; the second argument is always 0 (spec customop-abi.md §2.5).
extern "C" void _Assert(const char *text, int) __attribute__((noreturn));

namespace c10 {
namespace detail {

CheckMessage &CheckMessage::operator<<(const char *piece) {
  while (*piece && length_ + 1 < sizeof text_)
    text_[length_++] = *piece++;
  text_[length_] = 0;
  return *this;
}

CheckMessage &CheckMessage::operator<<(long long number) {
  char digits[21];
  char *end = digits + sizeof digits - 1;
  char *p = end;
  *p = 0;
  unsigned long long rest = number < 0 ? 0ull - static_cast<unsigned long long>(number) : number;
  do {
    *--p = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (number < 0)
    *--p = '-';
  return *this << p;
}

CheckMessage &CheckMessage::operator<<(IntArrayRef shape) {
  *this << "[";
  for (size_t i = 0; i < shape.size(); ++i)
    *this << (i ? ", " : "") << shape[i];
  return *this << "]";
}

void torchCheckFail(const char *text) { _Assert(text, 0); }

void scalar_overflow(const char *type) {
  torchCheckFailWith("value cannot be converted to type ", type, " without overflow");
}

} // namespace detail
} // namespace c10
