// SPDX-License-Identifier: Apache-2.0
//
// The block of core-local memory (dataram) that the firmware lends the runtime, and the globals that say where it and the
// other resources are. Layout: spec device-runtime.md §11.2; every offset is locked by an assertion.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "xmem_heap.h"

/// Bytes of core-local memory, all of it: [DATARAM_BASE, DATARAM_BASE + DATARAM_SIZE).
constexpr uintptr_t DATARAM_BASE = 0x80000;
constexpr size_t DATARAM_SIZE = 0x10000;

/// One translation window: addresses with `(addr & mask) == ptr` appear at `window`.
struct translation_record_t {
  unsigned long long ptr;
  unsigned int window;
  unsigned long long mask;
  /// Local address of the window register's low word; 0 for a pinned window.
  unsigned long long reg_location;
};

/// The translation context; records 0-2 move, 3 (SBUF) and 4 (HBM scratch) are pinned.
struct _translation_ctx_t {
  translation_record_t records[5];
  /// The next of records 0-2 to be moved.
  unsigned char next_alloc;
};

/// One SDMA descriptor or completion entry.
struct SDMA_CME_BD_DESC {
  unsigned int word0;
  unsigned int word1;
  unsigned long long buf_ptr;
};

/// Entries in each SDMA ring.
constexpr unsigned int DMA_RING_SIZE = 4;

/// State of this core's SDMA queue pair.
struct _dma_ctx_t {
  unsigned long long m2s_inc_reg;
  unsigned long long s2m_inc_reg;
  volatile SDMA_CME_BD_DESC* tx_desc;
  volatile SDMA_CME_BD_DESC* rx_desc;
  volatile SDMA_CME_BD_DESC* comp_desc;
  unsigned int dma_ring_tail_idx;
  unsigned char dma_ring_id;
  unsigned char reserved[7];
};

/// Blocks that each heap can track, free fragments included.
constexpr unsigned int HEAP_BLOCKS = 32;

/// A heap's bookkeeping: descriptors, then one bit per descriptor (1 = unused).
struct heap_header_t {
  xmem_heap_block blocks[HEAP_BLOCKS];
  unsigned int free_bitvec;
};

constexpr size_t LIBC_POOL_SIZE = 0x2800;
constexpr size_t DATARAM_POOL_SIZE = 0x4000;

struct data_scratch_map_t {
  _translation_ctx_t translation;
  unsigned char pad0[0x100 - sizeof(_translation_ctx_t)];
  SDMA_CME_BD_DESC tx_ring[DMA_RING_SIZE];
  SDMA_CME_BD_DESC rx_ring[DMA_RING_SIZE];
  SDMA_CME_BD_DESC comp_ring[DMA_RING_SIZE];
  unsigned char pad1[0x40];
  _dma_ctx_t dma;
  heap_header_t hbm_header;
  heap_header_t dataram_header;
  heap_header_t libc_header;
  unsigned char pad2[0xA00 - 0x834];
  unsigned char libc_pool[LIBC_POOL_SIZE];
  unsigned char dataram_pool[DATARAM_POOL_SIZE];
};

static_assert(sizeof(translation_record_t) == 32 && sizeof(_translation_ctx_t) == 168, "spec device-runtime.md §10.1");
static_assert(offsetof(translation_record_t, window) == 8 && offsetof(translation_record_t, mask) == 16 &&
                  offsetof(translation_record_t, reg_location) == 24 && offsetof(_translation_ctx_t, next_alloc) == 160,
              "spec device-runtime.md §10.1");
static_assert(sizeof(SDMA_CME_BD_DESC) == 16 && sizeof(_dma_ctx_t) == 40, "spec device-runtime.md §13.5, §13.7");
static_assert(offsetof(_dma_ctx_t, dma_ring_tail_idx) == 0x1C && offsetof(_dma_ctx_t, dma_ring_id) == 0x20,
              "spec device-runtime.md §13.5");
static_assert(sizeof(heap_header_t) == 0x204, "spec device-runtime.md §11.2");
static_assert(offsetof(data_scratch_map_t, tx_ring) == 0x100 && offsetof(data_scratch_map_t, rx_ring) == 0x140 &&
                  offsetof(data_scratch_map_t, comp_ring) == 0x180 && offsetof(data_scratch_map_t, dma) == 0x200 &&
                  offsetof(data_scratch_map_t, hbm_header) == 0x228 && offsetof(data_scratch_map_t, dataram_header) == 0x42C &&
                  offsetof(data_scratch_map_t, libc_header) == 0x630 && offsetof(data_scratch_map_t, libc_pool) == 0xA00 &&
                  offsetof(data_scratch_map_t, dataram_pool) == 0x3200 && sizeof(data_scratch_map_t) == 0x7200,
              "spec device-runtime.md §11.2");

/// The scratch block in use; set at boot.
extern data_scratch_map_t* data_scratch_map;

namespace extended_isa {
namespace sdk {
/// What the host's callbacks reported at boot (spec customop-abi.md §2.5).
extern void* data_scratch;
extern size_t data_scratch_size;
extern unsigned long long hbm_scratch;
extern size_t hbm_scratch_size;
extern unsigned long long dma_queue_m2s_offset;
extern unsigned long long dma_queue_s2m_offset;
}  // namespace sdk
}  // namespace extended_isa

/// SoC address where SBUF argument addresses start; set by `_init_translate_ctx`.
extern unsigned long long _sbuf_window;
void _init_translate_ctx();

int init_neuron_hbm_allocator();
int init_neuron_dataram_allocator();
int _init_libc_heap_allocator();

/// The C library's pool of this launch. As the functions of neuron/custom_op.h, on pointers.
int _libc_heap_allocate(size_t nbytes, void** ptr, size_t alignment = 0);
int _libc_heap_deallocate(void* ptr);
int _libc_heap_get_alloc_size(void* ptr, size_t* nbytes);
int _libc_heap_max_free_space(size_t* nbytes, size_t alignment = 0);

/// A small pool that survives launches: what `malloc` hands out before the first launch, and what the C library keeps for
/// itself (stream buffers, conversion tables) at any time.
int _default_heap_allocate(size_t nbytes, void** ptr, size_t alignment);
int _default_heap_deallocate(void* ptr);
int _default_heap_get_alloc_size(void* ptr, size_t* nbytes);
bool _default_heap_owns(const void* ptr);

/// Sets up the SDMA rings of this core for one launch.
void init_dma_queue();
