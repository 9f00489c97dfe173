// SPDX-License-Identifier: Apache-2.0
//
// SoC address -> local address through five windows, three of which move. Unaware of what lies behind an address.
// Facts: spec device-runtime.md §10.
#include <neuron/custom_op.h>

#include "nx_registers.h"
#include "scratch_map.h"
#include "special_registers.h"

_translation_ctx_t* _ctx;
unsigned long long _sbuf_window;

namespace {

constexpr unsigned long long MASK_16M = ~0xFFFFFFull;
constexpr unsigned long long MASK_64M = ~0x3FFFFFFull;
/// No masked address equals it, so an empty record never hits; zero would claim the start of HBM.
constexpr unsigned long long NO_TAG = ~0ull;

constexpr uintptr_t DYNAMIC_REGISTERS[3] = {MEM_WINDOW3_LO, MEM_WINDOW5_LO, MEM_WINDOW6_LO};

const translation_record_t* find(const _translation_ctx_t* ctx, unsigned long long addr) {
  for (const translation_record_t& record : ctx->records) {
    if ((addr & record.mask) == record.ptr) return &record;
  }
  return nullptr;
}

}  // namespace

void _init_translate_ctx() {
  _translation_ctx_t* const ctx = &data_scratch_map->translation;
  for (unsigned int k = 0; k < 3; ++k) ctx->records[k] = {NO_TAG, DYNAMIC_WINDOWS[k], MASK_16M, DYNAMIC_REGISTERS[k]};
  _sbuf_window = read_local_ureg64(ENGINE_BASE_ADDR_LO) - SBUF_BELOW_ENGINE;
  ctx->records[3] = {_sbuf_window, SBUF_APERTURE, MASK_64M, 0};
  ctx->records[4] = {extended_isa::sdk::hbm_scratch & MASK_64M, HBM_SCRATCH_APERTURE, MASK_64M, 0};
  ctx->next_alloc = 0;
  _ctx = ctx;
}

void* neuron_translate_ctx() { return _ctx; }

void* neuron_translate(void* context, unsigned long long addr) {
  _translation_ctx_t* const ctx = static_cast<_translation_ctx_t*>(context);
  const translation_record_t* hit = find(ctx, addr);
  if (hit == nullptr) {
    translation_record_t& victim = ctx->records[ctx->next_alloc];
    victim.ptr = addr & MASK_16M;
    memory_barrier();
    write_local_ureg32(static_cast<uintptr_t>(victim.reg_location + 4), static_cast<unsigned int>(victim.ptr >> 32));
    write_local_ureg32(static_cast<uintptr_t>(victim.reg_location), static_cast<unsigned int>(victim.ptr));
    memory_barrier();
    ctx->next_alloc = ctx->next_alloc == 2 ? 0 : static_cast<unsigned char>(ctx->next_alloc + 1);
    hit = &victim;
  }
  return reinterpret_cast<void*>(hit->window + static_cast<unsigned int>(addr & ~hit->mask));
}

int neuron_translate_mapping_lookup(void* context, unsigned long long addr, unsigned long long* first, unsigned long long* last) {
  const translation_record_t* const hit = find(static_cast<const _translation_ctx_t*>(context), addr);
  if (hit == nullptr) return -1;
  *first = hit->ptr;
  *last = hit->ptr | ~hit->mask;
  return 0;
}
