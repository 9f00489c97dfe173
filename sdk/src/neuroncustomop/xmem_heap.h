// SPDX-License-Identifier: Apache-2.0
//
// First-fit heap with its bookkeeping outside the pool, so that it can manage memory which is never dereferenced (HBM behind
// a proxy address) as well as local memory. Unaware of what the pool is. Algorithm and layouts: spec device-runtime.md §12.3.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum xmem_status_t {
  XMEM_OK = 0,
  XMEM_ERR_INTERNAL = -1,
  XMEM_ERR_POOL_SIZE = -96,
  XMEM_ERR_PTR_OUT_OF_BOUNDS = -97,
  XMEM_ERR_INVALID_ARGS = -98,
  XMEM_ERR_ILLEGAL_ALIGN = -99,
  XMEM_ERR_ALLOC_FAILED = -100,
};

/// A run of pool bytes, free or allocated. Addresses are numbers: nothing here is dereferenced.
struct xmem_heap_block {
  xmem_heap_block* _next_block;
  unsigned int _block_size;
  uintptr_t _buffer;
  /// What the user got; `_buffer` plus the slack in front.
  uintptr_t _aligned_buffer;
};

struct xmem_heap_mgr {
  void* _lock;
  uintptr_t _buffer;
  unsigned int _buffer_size;
  unsigned int _free_bytes;
  unsigned int _allocated_bytes;
  unsigned int _unused_bytes;
  xmem_heap_block _free_list_head;
  xmem_heap_block _free_list_tail;
  xmem_heap_block _alloc_list_head;
  xmem_heap_block* _blocks;
  unsigned int _num_blocks;
  unsigned int* _block_free_bitvec;
  unsigned short _header_size;
  unsigned short _has_external_header;
};

#if defined(__XTENSA__)
static_assert(sizeof(xmem_heap_block) == 16 && sizeof(xmem_heap_mgr) == 88, "spec device-runtime.md §12.3");
static_assert(offsetof(xmem_heap_mgr, _free_list_head) == 0x18 && offsetof(xmem_heap_mgr, _blocks) == 0x48 &&
                  offsetof(xmem_heap_mgr, _header_size) == 0x54,
              "spec device-runtime.md §12.3");
#endif

/// Makes `mgr` manage [buffer, buffer + size) with `num_blocks` (1 to 32) descriptors at `blocks` and their bit vector.
xmem_status_t xmem_heap_init(xmem_heap_mgr* mgr, uintptr_t buffer, unsigned int size, unsigned int num_blocks,
                             xmem_heap_block* blocks, unsigned int* bitvec);
/// `size` bytes at a multiple of `align` (a power of two), or 0 with the reason in `*status`.
uintptr_t xmem_heap_alloc(xmem_heap_mgr* mgr, unsigned int size, unsigned int align, xmem_status_t* status);
/// Gives an allocation back and joins it with free neighbours; changes nothing when `address` is none.
xmem_status_t xmem_heap_free(xmem_heap_mgr* mgr, uintptr_t address);
/// The largest size that `xmem_heap_alloc` could serve at `align`; 0 when none.
unsigned int xmem_heap_get_free_space(xmem_heap_mgr* mgr, unsigned int align, xmem_status_t* status);
/// Bytes usable by the owner of a live allocation, or 0.
unsigned int xmem_heap_get_alloc_size(xmem_heap_mgr* mgr, uintptr_t address);
