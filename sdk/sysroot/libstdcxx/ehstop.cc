// SPDX-License-Identifier: Apache-2.0
extern "C" {
  void abort() __attribute__((noreturn));
#define S(n) void n() { abort(); }
  S(__gxx_personality_v0) S(__gxx_personality_sj0) S(_Unwind_Resume) S(_Unwind_SjLj_Resume) S(__cxa_throw) S(__cxa_rethrow)
  S(__cxa_allocate_exception) S(__cxa_free_exception) S(__cxa_begin_catch) S(__cxa_end_catch) S(__cxa_get_exception_ptr)
  S(__cxa_call_unexpected)
}
