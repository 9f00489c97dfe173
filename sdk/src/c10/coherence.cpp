// SPDX-License-Identifier: Apache-2.0
//
// The warning of policy INCOHERENT_VERBOSE. Only its beginning and end are known (spec device-runtime.md §8.3); it goes past
// stdio, in order with it, so that kernels which never print stay small.
#include <ATen/core/Coherence.h>

#include <string.h>

extern "C" void neuron_emit(int fd, const char* text, size_t n);

namespace at {

namespace {

char* append(char* to, const char* text) {
  const size_t n = strlen(text);
  memcpy(to, text, n);
  return to + n;
}

char* append(char* to, unsigned int count) {
  char digits[10];
  unsigned int n = 0;
  do digits[n++] = static_cast<char>('0' + count % 10);
  while ((count /= 10) != 0);
  while (n != 0) *to++ = digits[--n];
  return to;
}

}  // namespace

void CoherencyEnforcer::warn() const {
  char line[160];
  char* end = append(line, "WARNING: Already opened ");
  end = append(append(end, static_cast<unsigned int>(buffered_readers_)), " buffered readers, ");
  end = append(append(end, static_cast<unsigned int>(buffered_writers_)), " buffered writers and ");
  end = append(append(end, static_cast<unsigned int>(unbuffered_accessors_)), " unbuffered accessors");
  end = append(end, "...may cause incoherent behaviour.\n");
  neuron_emit(1, line, static_cast<size_t>(end - line));
}

}  // namespace at
