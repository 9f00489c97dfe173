// SPDX-License-Identifier: Apache-2.0
//
// Definitions for xmem_heap.h; included by the one archive member that owns the heaps.
#pragma once

#include "xmem_heap.h"

namespace {

/// A remainder no larger than this stays with the block it was cut from.
constexpr unsigned int SPLIT_THRESHOLD = 4;

bool is_power_of_two(unsigned int value) { return value != 0 && (value & (value - 1)) == 0; }

unsigned int slack_before(uintptr_t buffer, unsigned int align) { return static_cast<unsigned int>(-buffer & (align - 1)); }

xmem_heap_block* take_block(xmem_heap_mgr* mgr) {
  if (*mgr->_block_free_bitvec == 0) return nullptr;
  const unsigned int index = static_cast<unsigned int>(__builtin_ctz(*mgr->_block_free_bitvec));
  *mgr->_block_free_bitvec &= ~(1u << index);
  return &mgr->_blocks[index];
}

void return_block(xmem_heap_mgr* mgr, xmem_heap_block* block) { *mgr->_block_free_bitvec |= 1u << (block - mgr->_blocks); }

/// The block whose successor in the allocated list hands out `address`, or null.
xmem_heap_block* find_before(xmem_heap_mgr* mgr, uintptr_t address) {
  xmem_heap_block* before = &mgr->_alloc_list_head;
  while (before->_next_block != nullptr) {
    if (before->_next_block->_aligned_buffer == address) return before;
    before = before->_next_block;
  }
  return nullptr;
}

}  // namespace

xmem_status_t xmem_heap_init(xmem_heap_mgr* mgr, uintptr_t buffer, unsigned int size, unsigned int num_blocks,
                             xmem_heap_block* blocks, unsigned int* bitvec) {
  if (mgr == nullptr || blocks == nullptr || bitvec == nullptr || num_blocks == 0 || num_blocks > 32) return XMEM_ERR_INVALID_ARGS;
  if (size == 0) return XMEM_ERR_POOL_SIZE;
  mgr->_lock = nullptr;
  mgr->_buffer = buffer;
  mgr->_buffer_size = size;
  mgr->_free_bytes = size;
  mgr->_allocated_bytes = 0;
  mgr->_unused_bytes = 0;
  mgr->_blocks = blocks;
  mgr->_num_blocks = num_blocks;
  mgr->_block_free_bitvec = bitvec;
  mgr->_header_size = static_cast<unsigned short>(num_blocks * sizeof(xmem_heap_block) + sizeof(unsigned int));
  mgr->_has_external_header = 1;
  *bitvec = (num_blocks == 32 ? ~0u : (1u << num_blocks) - 1) & ~1u;
  blocks[0] = {&mgr->_free_list_tail, size, buffer, buffer};
  mgr->_free_list_head = {&blocks[0], 0, 0, 0};
  mgr->_free_list_tail = {nullptr, 0xFFFFFFFFu, 0xFFFFFFFFu, 0xFFFFFFFFu};
  mgr->_alloc_list_head = {nullptr, 0, 0, 0};
  return XMEM_OK;
}

uintptr_t xmem_heap_alloc(xmem_heap_mgr* mgr, unsigned int size, unsigned int align, xmem_status_t* status) {
  if (size == 0) {
    *status = XMEM_ERR_INVALID_ARGS;
    return 0;
  }
  if (!is_power_of_two(align)) {
    *status = XMEM_ERR_ILLEGAL_ALIGN;
    return 0;
  }
  for (xmem_heap_block *before = &mgr->_free_list_head, *block; (block = before->_next_block) != &mgr->_free_list_tail;
       before = block) {
    const unsigned int slack = slack_before(block->_buffer, align);
    if (block->_block_size < slack || block->_block_size - slack < size) continue;
    const unsigned int used = slack + size;
    const unsigned int rest = block->_block_size - used;
    xmem_heap_block* remainder = rest > SPLIT_THRESHOLD ? take_block(mgr) : nullptr;
    if (remainder != nullptr) {
      *remainder = {block->_next_block, rest, block->_buffer + used, block->_buffer + used};
      before->_next_block = remainder;
      block->_block_size = used;
    } else {
      before->_next_block = block->_next_block;
    }
    block->_aligned_buffer = block->_buffer + slack;
    block->_next_block = mgr->_alloc_list_head._next_block;
    mgr->_alloc_list_head._next_block = block;
    mgr->_free_bytes -= block->_block_size;
    mgr->_allocated_bytes += block->_block_size;
    mgr->_unused_bytes += block->_block_size - size;
    *status = XMEM_OK;
    return block->_aligned_buffer;
  }
  *status = XMEM_ERR_ALLOC_FAILED;
  return 0;
}

xmem_status_t xmem_heap_free(xmem_heap_mgr* mgr, uintptr_t address) {
  if (address - mgr->_buffer >= mgr->_buffer_size) return XMEM_ERR_PTR_OUT_OF_BOUNDS;
  xmem_heap_block* const owner = find_before(mgr, address);
  if (owner == nullptr) return XMEM_ERR_INTERNAL;
  xmem_heap_block* block = owner->_next_block;
  owner->_next_block = block->_next_block;
  mgr->_free_bytes += block->_block_size;
  mgr->_allocated_bytes -= block->_block_size;
  block->_aligned_buffer = block->_buffer;

  xmem_heap_block* before = &mgr->_free_list_head;
  while (before->_next_block->_buffer < block->_buffer) before = before->_next_block;
  xmem_heap_block* const after = before->_next_block;
  block->_next_block = after;
  before->_next_block = block;
  if (after != &mgr->_free_list_tail && block->_buffer + block->_block_size == after->_buffer) {
    block->_block_size += after->_block_size;
    block->_next_block = after->_next_block;
    return_block(mgr, after);
  }
  if (before != &mgr->_free_list_head && before->_buffer + before->_block_size == block->_buffer) {
    before->_block_size += block->_block_size;
    before->_next_block = block->_next_block;
    return_block(mgr, block);
  }
  return XMEM_OK;
}

unsigned int xmem_heap_get_free_space(xmem_heap_mgr* mgr, unsigned int align, xmem_status_t* status) {
  if (!is_power_of_two(align)) {
    *status = XMEM_ERR_ILLEGAL_ALIGN;
    return 0;
  }
  unsigned int best = 0;
  for (xmem_heap_block* block = mgr->_free_list_head._next_block; block != &mgr->_free_list_tail; block = block->_next_block) {
    const unsigned int slack = slack_before(block->_buffer, align);
    if (block->_block_size > slack && block->_block_size - slack > best) best = block->_block_size - slack;
  }
  *status = XMEM_OK;
  return best;
}

unsigned int xmem_heap_get_alloc_size(xmem_heap_mgr* mgr, uintptr_t address) {
  const xmem_heap_block* const before = find_before(mgr, address);
  if (before == nullptr) return 0;
  const xmem_heap_block* const block = before->_next_block;
  return block->_block_size - static_cast<unsigned int>(block->_aligned_buffer - block->_buffer);
}
