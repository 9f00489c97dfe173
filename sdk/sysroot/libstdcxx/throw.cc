// SPDX-License-Identifier: Apache-2.0
// What the library calls where it would throw: the program stops.
#include <bits/c++config.h>
#include <cstdlib>
#include <exception>

namespace std {
void terminate() noexcept { abort(); }

#define STOP(name, ...) void __throw_##name(__VA_ARGS__) { abort(); }
STOP(bad_exception)
STOP(bad_alloc)
STOP(bad_array_new_length)
STOP(bad_cast)
STOP(bad_typeid)
STOP(logic_error, const char *)
STOP(domain_error, const char *)
STOP(invalid_argument, const char *)
STOP(length_error, const char *)
STOP(out_of_range, const char *)
STOP(out_of_range_fmt, const char *, ...)
STOP(runtime_error, const char *)
STOP(range_error, const char *)
STOP(overflow_error, const char *)
STOP(underflow_error, const char *)
STOP(ios_failure, const char *)
STOP(ios_failure, const char *, int)
STOP(system_error, int)
STOP(future_error, int)
#undef STOP
} // namespace std

// What compiled code calls by itself.
extern "C" {
void __cxa_pure_virtual() { std::abort(); }
void __cxa_deleted_virtual() { std::abort(); }
void __cxa_throw_bad_array_new_length() { std::abort(); }
void __cxa_bad_cast() { std::abort(); }
}
