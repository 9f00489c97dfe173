// SPDX-License-Identifier: Apache-2.0
//
// The heaps of one core: HBM, TCM and the C library's, all emptied by every launch, and one small pool that outlives launches.
// Unaware of tensors. Facts: spec device-runtime.md §12.
#include <neuron/custom_op.h>

#include <c10/util/Exception.h>

#include "scratch_map.h"
#include "xmem_heap_impl.h"

/// Bytes of the pool that outlives launches. Split images, whose data must fit 8 KiB, are built with less.
#ifndef NEURON_DEFAULT_POOL_SIZE
#define NEURON_DEFAULT_POOL_SIZE 0x2000
#endif

namespace {

/// The HBM heap works on these numbers and adds the distance to `hbm_scratch` at its border: its bookkeeping is 32 bits wide.
constexpr uintptr_t HBM_PROXY_BASE = 0x80000000u;
constexpr size_t DEFAULT_ALIGNMENT = 64;
constexpr size_t DEFAULT_POOL_SIZE = NEURON_DEFAULT_POOL_SIZE;

xmem_heap_mgr hbm_mgr;
xmem_heap_mgr dataram_mgr;
xmem_heap_mgr libc_mgr;
xmem_heap_mgr default_mgr;
// Null until initialised.
xmem_heap_mgr* hbm_heap;
xmem_heap_mgr* dataram_heap;
xmem_heap_mgr* libc_heap;
xmem_heap_mgr* default_heap;
heap_header_t default_header;
alignas(64) unsigned char default_pool[DEFAULT_POOL_SIZE];

int init_heap(xmem_heap_mgr*& heap, xmem_heap_mgr& mgr, uintptr_t pool, size_t size, heap_header_t& header) {
  const xmem_status_t status = xmem_heap_init(&mgr, pool, size, HEAP_BLOCKS, header.blocks, &header.free_bitvec);
  heap = status == XMEM_OK ? &mgr : nullptr;
  return status == XMEM_OK ? 0 : -1;
}

uintptr_t allocate(xmem_heap_mgr* mgr, size_t nbytes, size_t alignment) {
  NEURON_REFERENCE_ASSERT(mgr != nullptr, "allocator.cpp:45 mgr != nullptr");
  xmem_status_t status;
  return xmem_heap_alloc(mgr, nbytes, alignment == 0 ? DEFAULT_ALIGNMENT : alignment, &status);
}

int deallocate(xmem_heap_mgr* mgr, uintptr_t address) {
  NEURON_REFERENCE_ASSERT(mgr != nullptr, "allocator.cpp:45 mgr != nullptr");
  return xmem_heap_free(mgr, address);
}

int allocate_local(xmem_heap_mgr* mgr, size_t nbytes, void** ptr, size_t alignment) {
  *ptr = reinterpret_cast<void*>(allocate(mgr, nbytes, alignment));
  return *ptr != nullptr ? 0 : -1;
}

int alloc_size(xmem_heap_mgr* mgr, uintptr_t address, size_t* nbytes) {
  NEURON_REFERENCE_ASSERT(mgr != nullptr, "allocator.cpp:45 mgr != nullptr");
  *nbytes = xmem_heap_get_alloc_size(mgr, address);
  return *nbytes != 0 ? 0 : -1;
}

int max_free_space(xmem_heap_mgr* mgr, size_t* nbytes, size_t alignment) {
  NEURON_REFERENCE_ASSERT(mgr != nullptr, "allocator.cpp:45 mgr != nullptr");
  xmem_status_t status;
  *nbytes = xmem_heap_get_free_space(mgr, alignment == 0 ? DEFAULT_ALIGNMENT : alignment, &status);
  return status == XMEM_OK ? 0 : -1;
}

/// The proxy of an HBM address, or an address outside the proxy range when it is not in the pool.
uintptr_t hbm_proxy(unsigned long long ptr) {
  const unsigned long long offset = ptr - extended_isa::sdk::hbm_scratch;
  return offset < extended_isa::sdk::hbm_scratch_size ? HBM_PROXY_BASE + static_cast<uintptr_t>(offset) : 0;
}

}  // namespace

int init_neuron_hbm_allocator() {
  return init_heap(hbm_heap, hbm_mgr, HBM_PROXY_BASE, extended_isa::sdk::hbm_scratch_size, data_scratch_map->hbm_header);
}

int neuron_hbm_allocate(size_t nbytes, unsigned long long* ptr, size_t alignment) {
  const uintptr_t proxy = allocate(hbm_heap, nbytes, alignment);
  if (proxy == 0) return -1;
  *ptr = extended_isa::sdk::hbm_scratch + (proxy - HBM_PROXY_BASE);
  return 0;
}

int neuron_hbm_deallocate(unsigned long long ptr) { return deallocate(hbm_heap, hbm_proxy(ptr)); }

int neuron_hbm_get_alloc_size(unsigned long long ptr, size_t* nbytes) { return alloc_size(hbm_heap, hbm_proxy(ptr), nbytes); }

int init_neuron_dataram_allocator() {
  return init_heap(dataram_heap, dataram_mgr, reinterpret_cast<uintptr_t>(data_scratch_map->dataram_pool), DATARAM_POOL_SIZE,
                   data_scratch_map->dataram_header);
}

int neuron_dataram_allocate(size_t nbytes, void** ptr, size_t alignment) {
  return allocate_local(dataram_heap, nbytes, ptr, alignment);
}

int neuron_dataram_deallocate(void* ptr) { return deallocate(dataram_heap, reinterpret_cast<uintptr_t>(ptr)); }

int neuron_dataram_max_free_space(size_t* nbytes, size_t alignment) { return max_free_space(dataram_heap, nbytes, alignment); }

int _init_libc_heap_allocator() {
  return init_heap(libc_heap, libc_mgr, reinterpret_cast<uintptr_t>(data_scratch_map->libc_pool), LIBC_POOL_SIZE,
                   data_scratch_map->libc_header);
}

int _libc_heap_allocate(size_t nbytes, void** ptr, size_t alignment) { return allocate_local(libc_heap, nbytes, ptr, alignment); }

int _libc_heap_deallocate(void* ptr) { return deallocate(libc_heap, reinterpret_cast<uintptr_t>(ptr)); }

int _libc_heap_get_alloc_size(void* ptr, size_t* nbytes) {
  return alloc_size(libc_heap, reinterpret_cast<uintptr_t>(ptr), nbytes);
}

int _libc_heap_max_free_space(size_t* nbytes, size_t alignment) { return max_free_space(libc_heap, nbytes, alignment); }

int _default_heap_allocate(size_t nbytes, void** ptr, size_t alignment) {
  if (default_heap == nullptr) {
    init_heap(default_heap, default_mgr, reinterpret_cast<uintptr_t>(default_pool), DEFAULT_POOL_SIZE, default_header);
  }
  return allocate_local(default_heap, nbytes, ptr, alignment);
}

int _default_heap_deallocate(void* ptr) { return deallocate(default_heap, reinterpret_cast<uintptr_t>(ptr)); }

int _default_heap_get_alloc_size(void* ptr, size_t* nbytes) {
  return alloc_size(default_heap, reinterpret_cast<uintptr_t>(ptr), nbytes);
}

bool _default_heap_owns(const void* ptr) {
  return reinterpret_cast<uintptr_t>(ptr) - reinterpret_cast<uintptr_t>(default_pool) < DEFAULT_POOL_SIZE;
}
