// SPDX-License-Identifier: Apache-2.0
// Code built without -fno-exceptions links too: a throw stops the program and
// a catch never runs.
extern "C" {
void abort() __attribute__((noreturn));

#define STOP(name) void name() { abort(); }
STOP(__gxx_personality_v0)
STOP(__gxx_personality_sj0)
STOP(_Unwind_Resume)
STOP(_Unwind_SjLj_Resume)
STOP(__cxa_throw)
STOP(__cxa_rethrow)
STOP(__cxa_allocate_exception)
STOP(__cxa_free_exception)
STOP(__cxa_begin_catch)
STOP(__cxa_end_catch)
STOP(__cxa_get_exception_ptr)
STOP(__cxa_call_unexpected)
#undef STOP
}
