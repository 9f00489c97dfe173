// SPDX-License-Identifier: Apache-2.0
//
// What code compiled with -fsanitize=kernel-address,undefined calls: each handler stops the simulator, which reads the
// arguments where the caller left them and knows what they mean. Nothing here runs on a device, and nothing here decides.
//
// The number in a8 is the request (crates/gpsimd-device, `checked`). A handler whose name ends in _abort, or that has no
// way back, does not return: the simulator ends the core there.

  .macro request name, number
  .section .text.\name, "ax"
  .align 4
  .global \name
  .type \name, @function
\name:
  entry a1, 32
  movi a8, \number
  simcall
  retw.n
  .size \name, . - \name
  .endm

  // Both of a handler's forms: the number with bit 6 does not return.
  .macro undefined name, number
  request __ubsan_handle_\name, \number
  request __ubsan_handle_\name\()_abort, \number + 0x40
  .endm

  // Redzones.
  request __asan_register_globals, 1
  request __asan_unregister_globals, 2
  request __asan_handle_no_return, 3
  request __asan_poison_stack_memory, 4
  request __asan_unpoison_stack_memory, 5
  request __asan_alloca_poison, 6
  request __asan_allocas_unpoison, 7
  request __asan_before_dynamic_init, 8
  request __asan_after_dynamic_init, 9
  request __asan_poison_memory_region, 10
  request __asan_unpoison_memory_region, 11
  request __asan_address_is_poisoned, 12
  request __asan_region_is_poisoned, 13
  request __sanitizer_ptr_cmp, 14
  request __sanitizer_ptr_sub, 15
  request __gpsimd_checked_overlap, 16
  request __sanitizer_annotate_contiguous_container, 17

  // Undefined behaviour.
  undefined type_mismatch_v1, 32
  undefined add_overflow, 33
  undefined sub_overflow, 34
  undefined mul_overflow, 35
  undefined negate_overflow, 36
  undefined divrem_overflow, 37
  undefined shift_out_of_bounds, 38
  undefined out_of_bounds, 39
  request __ubsan_handle_builtin_unreachable, 40 + 0x40
  request __ubsan_handle_missing_return, 41 + 0x40
  undefined vla_bound_not_positive, 42
  undefined float_cast_overflow, 43
  undefined load_invalid_value, 44
  undefined nonnull_arg, 45
  undefined nonnull_return_v1, 46
  undefined pointer_overflow, 47
  undefined invalid_builtin, 48

  // The mark of a checked image, in every form of it: what ships must not have it (`verify`).
  .section .rodata.gpsimd_checked, "a"
  .global __gpsimd_checked
  .type __gpsimd_checked, @object
__gpsimd_checked:
  .asciz "gpsimd-build: checked image, for the simulator only"
  .size __gpsimd_checked, . - __gpsimd_checked
