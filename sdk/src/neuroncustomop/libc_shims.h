// SPDX-License-Identifier: Apache-2.0
//
// The C library's device side: memory for malloc, output through the host, and the ways a program ends. newlib's stdio sits
// on top when a kernel prints, and costs nothing when none does: what is needed of it here is referred to weakly.
// Included by start_exit.cpp only. Facts: spec customop-abi.md §2.5, device-runtime.md §17.
#pragma once

#include <c10/util/Exception.h>
#include <errno.h>
#include <reent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scratch_map.h"
#include "ucode_lib.h"

/// True while `malloc` must not use the launch's heap: at boot, and while that heap is being emptied.
bool _use_default_malloc = true;

extern "C" {

#pragma weak fflush
#pragma weak _impure_ptr

/// Sends what the small printf (src/c10/stdio_integers.cpp) holds of a line; null when the image has none.
void neuron_flush_line();
#pragma weak neuron_flush_line

// ---- Memory. The launch's heap is emptied by the next launch; the default pool is not. newlib's own allocations (stream
// ---- buffers, number conversion) come through the _r functions and outlive launches, so they use the latter. ----

static constexpr size_t MALLOC_ALIGNMENT = 8;

void* memalign(size_t alignment, size_t n) {
  void* ptr = nullptr;
  if (n == 0) n = 1;
  if (_use_default_malloc) {
    _default_heap_allocate(n, &ptr, alignment);
  } else {
    _libc_heap_allocate(n, &ptr, alignment);
  }
  return ptr;
}

void* malloc(size_t n) { return memalign(MALLOC_ALIGNMENT, n); }

void free(void* ptr) {
  if (ptr == nullptr) return;
  if (_default_heap_owns(ptr)) {
    _default_heap_deallocate(ptr);
  } else {
    _libc_heap_deallocate(ptr);
  }
}

static void* grow(void* old, size_t n, void* (*allocate)(size_t)) {
  if (old == nullptr) return allocate(n);
  size_t had = 0;
  const int ret = _default_heap_owns(old) ? _default_heap_get_alloc_size(old, &had) : _libc_heap_get_alloc_size(old, &had);
  if (ret != 0) return nullptr;
  if (n <= had) return old;
  void* const fresh = allocate(n);
  if (fresh == nullptr) return nullptr;
  memcpy(fresh, old, had);
  free(old);
  return fresh;
}

static void* cleared(size_t count, size_t n, void* (*allocate)(size_t)) {
  size_t bytes;
  if (__builtin_mul_overflow(count, n, &bytes)) return nullptr;
  void* const ptr = allocate(bytes);
  if (ptr != nullptr) memset(ptr, 0, bytes);
  return ptr;
}

void* realloc(void* old, size_t n) { return grow(old, n, &malloc); }
void* calloc(size_t count, size_t n) { return cleared(count, n, &malloc); }

static void* default_malloc(size_t n) {
  void* ptr = nullptr;
  _default_heap_allocate(n == 0 ? 1 : n, &ptr, MALLOC_ALIGNMENT);
  return ptr;
}

void* _malloc_r(struct _reent*, size_t n) { return default_malloc(n); }
void _free_r(struct _reent*, void* ptr) { free(ptr); }
void* _realloc_r(struct _reent*, void* old, size_t n) { return grow(old, n, &default_malloc); }
void* _calloc_r(struct _reent*, size_t count, size_t n) { return cleared(count, n, &default_malloc); }

// ---- Bytes. Without the attribute the compiler would turn the loops back into calls of themselves. ----

#define NOT_A_LIBRARY_CALL __attribute__((optimize("no-tree-loop-distribute-patterns")))

static constexpr size_t WORD = sizeof(unsigned int);

static inline bool word_aligned(const void* a, const void* b) {
  return ((reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b)) & (WORD - 1)) == 0;
}

NOT_A_LIBRARY_CALL void* memcpy(void* __restrict to, const void* __restrict from, size_t n) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  if (word_aligned(out, in)) {
    for (; n >= WORD; n -= WORD, out += WORD, in += WORD) {
      *reinterpret_cast<unsigned int*>(out) = *reinterpret_cast<const unsigned int*>(in);
    }
  }
  while (n-- != 0) *out++ = *in++;
  return to;
}

NOT_A_LIBRARY_CALL void* memmove(void* to, const void* from, size_t n) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  if (reinterpret_cast<uintptr_t>(out) - reinterpret_cast<uintptr_t>(in) >= n) return memcpy(to, from, n);
  while (n-- != 0) out[n] = in[n];
  return to;
}

NOT_A_LIBRARY_CALL void* memset(void* to, int value, size_t n) {
  char* out = static_cast<char*>(to);
  const unsigned int word = (static_cast<unsigned int>(value) & 0xFF) * 0x01010101u;
  if (word_aligned(out, out)) {
    for (; n >= WORD; n -= WORD, out += WORD) *reinterpret_cast<unsigned int*>(out) = word;
  }
  while (n-- != 0) *out++ = static_cast<char>(word);
  return to;
}

NOT_A_LIBRARY_CALL int memcmp(const void* a, const void* b, size_t n) {
  const unsigned char* x = static_cast<const unsigned char*>(a);
  const unsigned char* y = static_cast<const unsigned char*>(b);
  for (; n != 0; --n, ++x, ++y) {
    if (*x != *y) return *x - *y;
  }
  return 0;
}

// ---- Files: descriptors 1 and 2 go to the host, anything else fails. ----

static int write_host(int fd, const char* data, size_t n) {
  if (host_libc.write == nullptr) return static_cast<int>(n);
  return host_libc.write(fd, data, n);
}

/// Sends what stdio and the small printf hold for `stream`; nothing when the image has neither.
static void flush_stdio(int fd) {
  if (fd == 1 && &neuron_flush_line != nullptr) neuron_flush_line();
  if (&_impure_ptr == nullptr || fflush == nullptr) return;
  FILE* const stream = fd == 1 ? _impure_ptr->_stdout : _impure_ptr->_stderr;
  if (stream != nullptr) fflush(stream);
}

void neuron_emit(int fd, const char* text, size_t n) {
  flush_stdio(1);
  write_host(fd, text, n);
}

_ssize_t _write_r(struct _reent* reent, int fd, const void* data, size_t n) {
  if (fd == 1 || fd == 2) return write_host(fd, static_cast<const char*>(data), n);
  reent->_errno = EBADF;
  return -1;
}

int fsync(int fd) {
  flush_stdio(fd);
  return 0;
}

static int no_file(struct _reent* reent) {
  reent->_errno = ENOSYS;
  return -1;
}

int _open_r(struct _reent* reent, const char*, int, int) { return no_file(reent); }
int _close_r(struct _reent*, int) { return 0; }
_ssize_t _read_r(struct _reent* reent, int, void*, size_t) { return no_file(reent); }
int _unlink_r(struct _reent* reent, const char*) { return no_file(reent); }
_off_t _lseek_r(struct _reent* reent, int, _off_t, int) { return no_file(reent); }

// A character device, so that stdio sends every line when it is complete.
int _fstat_r(struct _reent*, int, struct stat* status) {
  memset(status, 0, sizeof(*status));
  status->st_mode = S_IFCHR;
  return 0;
}
int _isatty_r(struct _reent*, int) { return 1; }

// ---- The end. ----

/// Ends the program: by the host if it can, else the core traps here for good.
[[noreturn]] void _exit(int status) {
  if (host_libc.exit != nullptr) host_libc.exit(status);
  for (;;) asm volatile("ill");
}

/// 128 + SIGABRT, as a shell reports an abort.
void abort() {
  flush_stdio(1);
  _exit(134);
}

void _Assert(const char* message, int) {
  neuron_emit(2, message, strlen(message));
  neuron_emit(2, "\n", 1);
  abort();
}

static void emit_text(const char* text) { neuron_emit(2, text, strlen(text)); }

/// `assert` of <assert.h>, without the cost of newlib's, which prints through stdio: `file:line expression`.
void __assert_func(const char* file, int line, const char*, const char* expression) {
  char digits[12];
  char* p = digits + sizeof(digits);
  *--p = '\0';
  *--p = ' ';
  do *--p = static_cast<char>('0' + line % 10);
  while ((line /= 10) != 0);
  *--p = ':';
  emit_text(file);
  emit_text(p);
  _Assert(expression, 0);
}
}
