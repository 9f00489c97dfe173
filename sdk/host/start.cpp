// SPDX-License-Identifier: Apache-2.0
//
// What list_registrations.cpp and the shape sources need to run on a simulated core with nothing around it: the entry, memory,
// output, and the ends of a program. The simulator serves three calls, SIMCALL with a number in a2: write (4), exit (1), and
// one that waits for the words of a question (5). What was done before that is done once for all questions.
// A thrown exception ends the program with its words; no code on the core catches one.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <typeinfo>

int main(int argc, char** argv);

namespace {

/// All memory there is for `malloc`; zeroed when the program starts.
constexpr size_t HEAP = 4 << 20;
constexpr size_t ALIGN = 16;
alignas(ALIGN) char heap[HEAP];
size_t used;

int ask(int what, int a, const void* b, size_t c) {
  register int a2 asm("a2") = what;
  register int a3 asm("a3") = a;
  register const void* a4 asm("a4") = b;
  register size_t a5 asm("a5") = c;
  asm volatile("simcall" : "+r"(a2) : "r"(a3), "r"(a4), "r"(a5) : "memory");
  return a2;
}

void say(const char* text) { ask(4, STDERR_FILENO, text, strlen(text)); }

/// Ends the program after words of why.
[[noreturn]] void stop(const char* first, const char* second = "", const char* third = "") {
  say(first);
  say(second);
  say(third);
  say("\n");
  _exit(1);
}

}  // namespace

extern "C" {

void _init();

/// At `words` are the question's, as many as the call says that waits for them, each ending in a NUL, one behind the other.
[[noreturn]] void _start(char* words) {
  _init();
  const int count = ask(5, 0, nullptr, 0);
  char** const argv = static_cast<char**>(calloc(static_cast<size_t>(count) + 1, sizeof(char*)));
  for (int i = 0; i < count; ++i) {
    argv[i] = words;
    words += strlen(words) + 1;
  }
  exit(main(count, argv));
}

// ---- Memory: given out in order, never taken back; a shape function is over before that matters. ----

void* malloc(size_t n) {
  if (n > HEAP - used || HEAP - used - n < 2 * ALIGN) stop("the shape functions need more than 4 MiB of memory");
  size_t* const block = reinterpret_cast<size_t*>(heap + used);
  *block = n;
  used += ALIGN + ((n + ALIGN - 1) & ~(ALIGN - 1));
  return reinterpret_cast<char*>(block) + ALIGN;
}

void free(void*) {}

void* calloc(size_t count, size_t n) {
  size_t bytes;
  if (__builtin_mul_overflow(count, n, &bytes)) return nullptr;
  return malloc(bytes);  // fresh, so zero
}

void* realloc(void* old, size_t n) {
  void* const fresh = malloc(n);
  if (old == nullptr) return fresh;
  const size_t had = *reinterpret_cast<size_t*>(static_cast<char*>(old) - ALIGN);
  return memcpy(fresh, old, had < n ? had : n);
}

void* memalign(size_t, size_t n) { return malloc(n); }
struct _reent;
void* _malloc_r(_reent*, size_t n) { return malloc(n); }
void _free_r(_reent*, void*) {}
void* _calloc_r(_reent*, size_t count, size_t n) { return calloc(count, n); }
void* _realloc_r(_reent*, void* old, size_t n) { return realloc(old, n); }

// ---- Files: descriptors 1 and 2 are the caller's, there are no others. ----

ssize_t write(int fd, const void* data, size_t n) { return ask(4, fd, data, n); }
_ssize_t _write_r(_reent*, int fd, const void* data, size_t n) { return write(fd, data, n); }
int _close_r(_reent*, int) { return 0; }
_ssize_t _read_r(_reent*, int, void*, size_t) { return 0; }
_off_t _lseek_r(_reent*, int, _off_t, int) { return 0; }
int _isatty_r(_reent*, int) { return 1; }
int _fstat_r(_reent*, int, struct stat* status) {
  memset(status, 0, sizeof(*status));
  status->st_mode = S_IFCHR;
  return 0;
}

// ---- The ends of a program. ----

[[noreturn]] void _exit(int status) {
  ask(1, status, nullptr, 0);
  for (;;) asm volatile("ill");
}

[[noreturn]] void abort() { stop("the shape function called abort()"); }

[[noreturn]] void __assert_func(const char* file, int line, const char*, const char* expression) {
  char digits[12];
  char* p = digits + sizeof(digits);
  *--p = '\0';
  do *--p = static_cast<char>('0' + line % 10);
  while ((line /= 10) != 0);
  say(file);
  say(":");
  stop(p, ": assertion failed: ", expression);
}

// ---- Exceptions. The names are the C++ ABI's, so that none of a library's versions is linked beside these. ----

void* __cxa_allocate_exception(size_t n) { return malloc(n); }
void __cxa_free_exception(void*) {}

[[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, void (*)(void*)) {
  if (typeid(std::exception).__do_catch(type, &thrown, 1)) stop(static_cast<std::exception*>(thrown)->what());
  stop("the shape function threw something that is no std::exception");
}

#define NEVER(name) \
  [[noreturn]] void name() { stop("the shape function needs exceptions to be caught"); }
NEVER(__gxx_personality_v0)
NEVER(__gxx_personality_sj0)
NEVER(_Unwind_Resume)
NEVER(_Unwind_SjLj_Resume)
NEVER(__cxa_rethrow)
NEVER(__cxa_begin_catch)
NEVER(__cxa_end_catch)
NEVER(__cxa_get_exception_ptr)
[[noreturn]] void __cxa_call_unexpected(void*) { stop("the shape function threw what it may not throw"); }
#undef NEVER
}
