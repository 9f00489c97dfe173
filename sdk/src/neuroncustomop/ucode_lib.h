// SPDX-License-Identifier: Apache-2.0
//
// What the host's loader and the image say to each other at boot. Facts: spec customop-abi.md §3.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum SUNDA_UCODE_LIB_STATUS : unsigned int {
  SUNDA_UCODE_LIB_SUCCESS = 0,
  SUNDA_UCODE_LIB_FAILURE = 1,
  SUNDA_UCODE_LIB_FAILURE_ABI_MISMATCH = 2,
  SUNDA_UCODE_LIB_FAILURE_OPCODE_TO_KERNEL_MAP = 3,
  SUNDA_UCODE_LIB_FAILURE_NUM_KERNELS = 4,
};

/// The loader's callbacks. The `get_*` ones return a handle that nobody uses.
struct SUNDA_UCODE_LIB {
  size_t sizeof_ncore_ucode_lib;
  void* library_handle;
  SUNDA_UCODE_LIB_STATUS (*register_ext_isa_fn)(void* handle, const char* name, int (*launcher)());
  void* (*get_libc_fn)(const char* name);
  void* (*get_data_scratch)(void** addr, size_t* size);
  void* (*get_hbm_scratch)(unsigned long long* addr, size_t* size);
  void* (*get_dma_queue)(unsigned int* m2s, unsigned int* s2m);
  void* register_ext_isa_fn_v2;
  void* register_ext_isa_fn_v3;
};

static_assert(sizeof(SUNDA_UCODE_LIB) == 36, "spec customop-abi.md §3.2");

/// The ELF entry and the function behind it; both take the block as their first argument (our choice, spec customop-abi.md
/// Q-1) and return a status.
extern "C" SUNDA_UCODE_LIB_STATUS _start(SUNDA_UCODE_LIB* host);
SUNDA_UCODE_LIB_STATUS entry_func(SUNDA_UCODE_LIB* host);

/// Hands every operator of this image to `cb`, in index order.
SUNDA_UCODE_LIB_STATUS register_funcs(SUNDA_UCODE_LIB_STATUS (*cb)(void*, const char*, int (*)()));

/// Functions of the host's C library that were found at boot; null when the host has none.
struct host_libc_t {
  int (*write)(int fd, const void* data, unsigned int n);
  void (*exit)(int status);
};
extern host_libc_t host_libc;

/// Writes text past stdio, which is flushed first. Dropped when the host cannot write.
extern "C" void neuron_emit(int fd, const char* text, size_t n);
