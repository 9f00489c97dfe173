// SPDX-License-Identifier: Apache-2.0
// Everything that would throw stops the program instead.
#include <bits/c++config.h>
#include <cstdlib>
#include <exception>
#include <new>
extern "C" void *__dso_handle; void *__dso_handle;
namespace std {
  void terminate() noexcept { abort(); }
#define T0(n) void __throw_##n() { abort(); }
#define T1(n) void __throw_##n(const char*) { abort(); }
#define TI(n) void __throw_##n(int) { abort(); }
  T0(bad_exception) T0(bad_alloc) T0(bad_array_new_length) T0(bad_cast) T0(bad_typeid)
  T1(logic_error) T1(domain_error) T1(invalid_argument) T1(length_error) T1(out_of_range)
  T1(runtime_error) T1(range_error) T1(overflow_error) T1(underflow_error) T1(ios_failure)
  void __throw_ios_failure(const char*, int) { abort(); }
  TI(system_error) TI(future_error)
  void __throw_out_of_range_fmt(const char*, ...) { abort(); }
}
extern "C" void __cxa_pure_virtual() { abort(); }
extern "C" void __cxa_deleted_virtual() { abort(); }
extern "C" void __cxa_throw_bad_array_new_length() { abort(); }
extern "C" void __cxa_bad_cast() { abort(); }
// One thread: the first byte says "done", the second "running".
extern "C" int  __cxa_guard_acquire(char *g) { if (g[0]) return 0; if (g[1]) abort(); g[1] = 1; return 1; }
extern "C" void __cxa_guard_release(char *g) { g[0] = 1; g[1] = 0; }
extern "C" void __cxa_guard_abort(char *g) { g[1] = 0; }
namespace std {
  const nothrow_t nothrow{};
}
static void *get(std::size_t n) { void *p = std::malloc(n ? n : 1); if (!p) std::abort(); return p; }
void *operator new(std::size_t n) { return get(n); }
void *operator new[](std::size_t n) { return get(n); }
void *operator new(std::size_t n, const std::nothrow_t&) noexcept { return std::malloc(n ? n : 1); }
void *operator new[](std::size_t n, const std::nothrow_t&) noexcept { return std::malloc(n ? n : 1); }
void operator delete(void *p) noexcept { std::free(p); }
void operator delete[](void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
void operator delete[](void *p, std::size_t) noexcept { std::free(p); }
void operator delete(void *p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void *p, const std::nothrow_t&) noexcept { std::free(p); }
