// SPDX-License-Identifier: Apache-2.0
//
// The device API below tensors: address translation, the two device heaps, and transfers.
// Unaware of tensors. Facts: spec customop-abi.md §2.4, device-runtime.md §10, §12, §13.
//
// `unsigned int` and `unsigned long long` are spelled out: the link names depend on them, and newlib's
// `uint32_t` is `unsigned long` (spec customop-abi.md §0).
#pragma once

#include <stddef.h>
#include <stdint.h>

/// The translation context of this core, for `neuron_translate`.
void* neuron_translate_ctx();

/// A local address for SoC byte address `addr`, moving one of three 16 MiB windows there if none covers it.
/// Never fails; good only until a later translation recycles the window.
void* neuron_translate(void* ctx, unsigned long long addr);

/// Where the window that now covers `addr` starts and ends (last byte, inclusive), as SoC addresses.
/// Returns 0, or -1 when no window covers it. Moves nothing.
int neuron_translate_mapping_lookup(void* ctx, unsigned long long addr, unsigned long long* first, unsigned long long* last);

/// `nbytes` of HBM that live until the end of this launch at most. `alignment` is a power of two, 0 means 64.
/// Returns 0 and the SoC address, or -1 with `*ptr` untouched.
int neuron_hbm_allocate(size_t nbytes, unsigned long long* ptr, size_t alignment = 0);
/// Gives back HBM; 0, or nonzero when `ptr` is no live allocation.
int neuron_hbm_deallocate(unsigned long long ptr);
/// The usable size of a live allocation, in bytes; 0, or -1 when `ptr` is none.
int neuron_hbm_get_alloc_size(unsigned long long ptr, size_t* nbytes);

/// `nbytes` of core-local memory (TCM) out of the 16 KiB pool. `alignment` as above.
/// Returns 0, or -1 with `*ptr` null.
int neuron_dataram_allocate(size_t nbytes, void** ptr, size_t alignment = 0);
/// Gives back TCM; 0, or nonzero when `ptr` is no live allocation.
int neuron_dataram_deallocate(void* ptr);
/// The largest block that `neuron_dataram_allocate` could hand out at `alignment`, in bytes (0 when full).
/// Returns 0, or -1 for a bad alignment.
int neuron_dataram_max_free_space(size_t* nbytes, size_t alignment = 0);

/// How `neuron_memcpy` moves bytes.
enum NeuronMemcpyMethod {
  C_MEMCPY = 0,        ///< byte copies through a window
  VEC_MEMCPY = 1,      ///< wide copies through a window
  DMA = 2,             ///< the SDMA engine
  MAX_METHODS = 3,     ///< number of methods, not a method
  DEFAULT_METHOD = 2,  ///< DMA
};

/// Device memory to local memory. Complete on return; returns 0.
int neuron_memcpy(void* dst, unsigned long long src, size_t nbytes);
/// Local memory to device memory. Complete on return; returns 0.
int neuron_memcpy(unsigned long long dst, void* src, size_t nbytes);
/// Chooses the method for this core from now on; 0, or -1 for a value that is no method.
int neuron_set_memcpy_method(NeuronMemcpyMethod method);
