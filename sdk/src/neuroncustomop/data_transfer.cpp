// SPDX-License-Identifier: Apache-2.0
//
// Copies between local memory and device memory: the SDMA engine, or loads and stores through a window.
// Every copy is complete on return. Unaware of tensors. Facts: spec device-runtime.md §13.
#include <neuron/custom_op.h>
#include <neuron/neuron-utils.hpp>

#include <c10/util/Exception.h>
#include <string.h>

#include "data_transfer.h"
#include "nx_registers.h"
#include "scratch_map.h"
#include "special_registers.h"

namespace {

typedef void (*transfer_fn)(void* local, unsigned long long soc, bool to_local, size_t n);

/// A descriptor moves at most this much; its 16-bit length field then reads 0.
constexpr size_t DMA_MAX_CHUNK = 0x10000;

constexpr unsigned int DESC_FIRST_LAST = 0x0C000000;
/// The attribute that plain copies carry; its meaning is open (spec device-runtime.md §23 question 5).
constexpr unsigned int DESC_BLOCK_ATTR = 3;
constexpr unsigned int DESC_RING_ID_SHIFT = 24;

// Registers of a queue block (spec device-runtime.md §13.8).
constexpr unsigned int QUEUE_CFG = 0x20;
constexpr unsigned int QUEUE_CFG_ENABLE = 3u << 16;
constexpr unsigned int QUEUE_RING_BASE = 0x28;
constexpr unsigned int QUEUE_RING_LENGTH = 0x30;
constexpr unsigned int QUEUE_TAIL_INCREMENT = 0x38;
constexpr unsigned int QUEUE_COMPLETION_BASE = 0x44;
constexpr unsigned int QUEUE_M2S_SW_CTRL = 0xB0;
constexpr unsigned int QUEUE_S2M_SW_CTRL = 0x64;
constexpr unsigned int QUEUE_RESET = 1u << 8;

void write_ureg64(uintptr_t reg, unsigned long long value) {
  write_local_ureg32(reg, static_cast<unsigned int>(value));
  write_local_ureg32(reg + 4, static_cast<unsigned int>(value >> 32));
}

bool in_dataram(const void* local, size_t n) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(local) - DATARAM_BASE;
  return offset < DATARAM_SIZE && n <= DATARAM_SIZE - offset;
}

/// Copies 16 bytes a step when both ends are word aligned; the scalar core's widest loads are words.
void wide_copy(char* to, const char* from, size_t n) {
  if (((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) & 3) == 0) {
    unsigned int* word_to = reinterpret_cast<unsigned int*>(to);
    const unsigned int* word_from = reinterpret_cast<const unsigned int*>(from);
    for (; n >= 16; n -= 16, word_to += 4, word_from += 4) {
      const unsigned int a = word_from[0], b = word_from[1], c = word_from[2], d = word_from[3];
      word_to[0] = a;
      word_to[1] = b;
      word_to[2] = c;
      word_to[3] = d;
    }
    to = reinterpret_cast<char*>(word_to);
    from = reinterpret_cast<const char*>(word_from);
  }
  memcpy(to, from, n);
}

void start_queue(uintptr_t queue, unsigned int sw_ctrl, volatile SDMA_CME_BD_DESC* ring, volatile SDMA_CME_BD_DESC* completions) {
  write_local_ureg32(queue + sw_ctrl, QUEUE_RESET);
  write_ureg64(queue + QUEUE_RING_BASE, dram_addr_to_soc_addr(reinterpret_cast<uintptr_t>(ring)));
  write_local_ureg32(queue + QUEUE_RING_LENGTH, DMA_RING_SIZE);
  if (completions != nullptr) {
    write_ureg64(queue + QUEUE_COMPLETION_BASE, dram_addr_to_soc_addr(reinterpret_cast<uintptr_t>(completions)));
  }
  write_local_ureg32(queue + QUEUE_CFG, QUEUE_CFG_ENABLE);
}

}  // namespace

unsigned long long dram_addr_to_soc_addr(unsigned int dram_addr) {
  NEURON_REFERENCE_ASSERT((dram_addr & 0xFFFF0000u) == DATARAM_BASE,
                          "data_transfer.cpp:160 dram_addr >= 0x80000 && dram_addr < 0x90000");
  const unsigned int cpu_id = get_cpu_id();
  NEURON_REFERENCE_ASSERT(cpu_id < 8, "data_transfer.cpp:171 cpu_id < 8");
  return read_local_ureg64(ENGINE_BASE_ADDR_LO) + ((2 * cpu_id + 9) << 16) + (dram_addr - DATARAM_BASE);
}

void memcpy_data_transfer_impl(char* local, unsigned long long soc, bool to_local, size_t n, bool wide) {
  void* const ctx = neuron_translate_ctx();
  while (n != 0) {
    char* const window = static_cast<char*>(neuron_translate(ctx, soc));
    unsigned long long first, last;
    const int ret = neuron_translate_mapping_lookup(ctx, soc, &first, &last);
    NEURON_REFERENCE_ASSERT(ret == 0, "data_transfer.cpp:92 ret == 0");
    // At most 64 MiB - 1: the difference of two addresses in one window.
    const size_t reachable = static_cast<size_t>(last - soc) + 1;
    const size_t chunk = n < reachable ? n : reachable;
    char* const to = to_local ? local : window;
    const char* const from = to_local ? window : local;
    if (wide) {
      wide_copy(to, from, chunk);
    } else {
      memcpy(to, from, chunk);
    }
    local += chunk;
    soc += chunk;
    n -= chunk;
  }
}

void c_memcpy_data_transfer(void* local, unsigned long long soc, bool to_local, size_t n) {
  memcpy_data_transfer_impl(static_cast<char*>(local), soc, to_local, n, false);
}

void vec_memcpy_data_transfer(void* local, unsigned long long soc, bool to_local, size_t n) {
  memcpy_data_transfer_impl(static_cast<char*>(local), soc, to_local, n, true);
}

void dma_data_transfer(void* local, unsigned long long soc, bool to_local, size_t n) {
  _dma_ctx_t& dma = data_scratch_map->dma;
  unsigned long long local_soc = dram_addr_to_soc_addr(reinterpret_cast<uintptr_t>(local));
  while (n != 0) {
    const size_t chunk = n < DMA_MAX_CHUNK ? n : DMA_MAX_CHUNK;
    const unsigned int slot = dma.dma_ring_tail_idx;
    const unsigned int ring_id = dma.dma_ring_id;
    const unsigned int length_and_ring = (chunk & 0xFFFF) | ring_id << DESC_RING_ID_SHIFT;
    volatile SDMA_CME_BD_DESC& tx = dma.tx_desc[slot];
    volatile SDMA_CME_BD_DESC& rx = dma.rx_desc[slot];
    tx.buf_ptr = to_local ? soc : local_soc;
    rx.buf_ptr = to_local ? local_soc : soc;
    tx.word0 = (tx.word0 & 0xFCFF0000) | length_and_ring;
    rx.word0 = (rx.word0 & 0xFCFF0000) | length_and_ring;
    memory_barrier();
    memory_barrier();
    write_local_ureg32(static_cast<uintptr_t>(dma.m2s_inc_reg), 1);
    memory_barrier();
    write_local_ureg32(static_cast<uintptr_t>(dma.s2m_inc_reg), 1);
    if (slot + 1 == DMA_RING_SIZE) {
      dma.dma_ring_tail_idx = 0;
      dma.dma_ring_id = static_cast<unsigned char>((ring_id + 1) & 3);
    } else {
      dma.dma_ring_tail_idx = slot + 1;
    }
    while ((dma.comp_desc[slot].word0 >> DESC_RING_ID_SHIFT & 3) != ring_id) {
    }
    local_soc += chunk;
    soc += chunk;
    n -= chunk;
  }
  // The data was written behind the compiler's back.
  memory_barrier();
}

namespace {

transfer_fn const backends[MAX_METHODS] = {c_memcpy_data_transfer, vec_memcpy_data_transfer, dma_data_transfer};
NeuronMemcpyMethod method = DEFAULT_METHOD;

void transfer(void* local, unsigned long long soc, bool to_local, size_t n) {
  if (n == 0) return;
  // The engine sees core-local memory only. A buffer elsewhere (a stack in HBM, a static) is copied by the core.
  if (method == DMA && !in_dataram(local, n)) {
    c_memcpy_data_transfer(local, soc, to_local, n);
  } else {
    backends[method](local, soc, to_local, n);
  }
}

}  // namespace

int neuron_memcpy(void* dst, unsigned long long src, size_t nbytes) {
  transfer(dst, src, true, nbytes);
  return 0;
}

int neuron_memcpy(unsigned long long dst, void* src, size_t nbytes) {
  transfer(src, dst, false, nbytes);
  return 0;
}

int neuron_set_memcpy_method(NeuronMemcpyMethod chosen) {
  if (static_cast<unsigned int>(chosen) >= MAX_METHODS) return -1;
  method = chosen;
  return 0;
}

void init_dma_queue() {
  NEURON_REFERENCE_ASSERT(read_local_ureg64(MEM_WINDOW0_LO) == SUNDA_APB_BASE,
                          "data_transfer.cpp:240 READ_LOCAL_UREG64(MEM_WINDOW0_LO) == SUNDA_APB_BASE");
  data_scratch_map_t& map = *data_scratch_map;
  memset(map.tx_ring, 0, sizeof(map.tx_ring) + sizeof(map.rx_ring) + sizeof(map.comp_ring));
  for (SDMA_CME_BD_DESC& desc : map.tx_ring) {
    desc.word0 = DESC_FIRST_LAST;
    desc.word1 = DESC_BLOCK_ATTR;
  }
  memory_barrier();
  const uintptr_t m2s = APB_APERTURE + static_cast<uintptr_t>(extended_isa::sdk::dma_queue_m2s_offset);
  const uintptr_t s2m = APB_APERTURE + static_cast<uintptr_t>(extended_isa::sdk::dma_queue_s2m_offset);
  map.dma = {m2s + QUEUE_TAIL_INCREMENT, s2m + QUEUE_TAIL_INCREMENT, map.tx_ring, map.rx_ring, map.comp_ring, 0, 1, {}};
  start_queue(m2s, QUEUE_M2S_SW_CTRL, map.tx_ring, nullptr);
  start_queue(s2m, QUEUE_S2M_SW_CTRL, map.rx_ring, map.comp_ring);
}
