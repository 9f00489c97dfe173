// SPDX-License-Identifier: Apache-2.0
// Guards of function-local statics, for one thread. The compiler reads the
// first byte: initialised. The second is ours: being initialised.
#include <cstdlib>

extern "C" {
void *__dso_handle;

int __cxa_guard_acquire(char *guard) {
  if (guard[0]) return 0;
  if (guard[1]) std::abort(); // the initialiser came back to itself
  guard[1] = 1;
  return 1;
}

void __cxa_guard_release(char *guard) {
  guard[0] = 1;
  guard[1] = 0;
}

void __cxa_guard_abort(char *guard) { guard[1] = 0; }
}
