// SPDX-License-Identifier: Apache-2.0
//
// The copies whose ranges must not overlap, wrapped by the linker (--wrap): each tells of an overlap, then copies as ever.

#include <stddef.h>
#include <string.h>

extern "C" {

/// Stops the simulator: `function` is called with ranges of `length` bytes that overlap.
void __gpsimd_checked_overlap(const char* function, void* to, const void* from, size_t length);

void* __real_memcpy(void* to, const void* from, size_t length);
char* __real_strcpy(char* to, const char* from);
char* __real_strncpy(char* to, const char* from, size_t limit);
char* __real_strcat(char* to, const char* from);
char* __real_strncat(char* to, const char* from, size_t limit);
char* __real_stpcpy(char* to, const char* from);
}

namespace {

/// An exact self-copy is what compilers emit for `x = x`, and does no harm.
bool overlap(const void* to, const void* from, size_t written, size_t read) {
  const size_t a = reinterpret_cast<size_t>(to);
  const size_t b = reinterpret_cast<size_t>(from);
  return a != b && written != 0 && read != 0 && a < b + read && b < a + written;
}

void judge(const char* function, void* to, const void* from, size_t written, size_t read) {
  if (overlap(to, from, written, read)) __gpsimd_checked_overlap(function, to, from, read);
}

size_t length_up_to(const char* text, size_t limit) {
  size_t length = 0;
  while (length < limit && text[length] != '\0') ++length;
  return length;
}

}  // namespace

extern "C" {

void* __wrap_memcpy(void* to, const void* from, size_t length) {
  judge("memcpy", to, from, length, length);
  return __real_memcpy(to, from, length);
}

char* __wrap_strcpy(char* to, const char* from) {
  const size_t length = strlen(from) + 1;
  judge("strcpy", to, from, length, length);
  return __real_strcpy(to, from);
}

char* __wrap_stpcpy(char* to, const char* from) {
  const size_t length = strlen(from) + 1;
  judge("stpcpy", to, from, length, length);
  return __real_stpcpy(to, from);
}

char* __wrap_strncpy(char* to, const char* from, size_t limit) {
  const size_t read = length_up_to(from, limit);
  judge("strncpy", to, from, limit, read);
  return __real_strncpy(to, from, limit);
}

char* __wrap_strcat(char* to, const char* from) {
  const size_t at = strlen(to);
  const size_t length = strlen(from) + 1;
  judge("strcat", to, from, at + length, length);
  return __real_strcat(to, from);
}

char* __wrap_strncat(char* to, const char* from, size_t limit) {
  const size_t at = strlen(to);
  const size_t length = length_up_to(from, limit);
  judge("strncat", to, from, at + length + 1, length);
  return __real_strncat(to, from, limit);
}
}
