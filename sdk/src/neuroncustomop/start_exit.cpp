// SPDX-License-Identifier: Apache-2.0
//
// Boot: the entry point, the hand-off from the host, and registration. The C library's device side is in libc_shims.h, which
// belongs to this archive member because every image links it. Facts: spec customop-abi.md §2.5 and §3.
#include <neuron/stack_switch.hpp>
#include <neuron/wrapper_api.h>
#include <neuron_torch_extension/NeuronAllocator.h>

#include "libc_shims.h"
#include "scratch_map.h"
#include "ucode_lib.h"

/// Defined by the generated wrapper: number of operators, and name and launcher of each.
int get_func_cnt();
const char* get_func_name(int idx);
wrapper_fn get_func_ptr(int idx);

namespace extended_isa {
namespace sdk {
void* data_scratch;
size_t data_scratch_size;
unsigned long long hbm_scratch;
size_t hbm_scratch_size;
unsigned long long dma_queue_m2s_offset;
unsigned long long dma_queue_s2m_offset;
}  // namespace sdk
}  // namespace extended_isa

data_scratch_map_t* data_scratch_map;
host_libc_t host_libc;

extern "C" {
/// True until the image has been entered once; in .data, because .bss is not clear before that.
unsigned char first_entry = 1;
void* my_handle;
char* null_environ[1];
extern const char CUSTOMOP_LIB_VERSION[] = "0.21.2.0";

/// The C library's environment, if anything in the image uses it.
extern char** environ __attribute__((weak));
/// Runs the static constructors (crti.o, crtn.o).
void _init();
/// {start, end} of .bss, from the linker script; both are multiples of four.
extern unsigned int* _bss_table_start[] __attribute__((weak));
}

namespace {

constexpr int MAX_FUNCS = 0x8000;

/// The loader clears .bss too; an image that was only copied into place must not depend on it.
void clear_bss() {
  if (_bss_table_start == nullptr) return;
  for (unsigned int* p = _bss_table_start[0]; p != _bss_table_start[1]; ++p) *static_cast<volatile unsigned int*>(p) = 0;
}

void ask_host(SUNDA_UCODE_LIB* host) {
  using namespace extended_isa::sdk;
  host->get_data_scratch(&data_scratch, &data_scratch_size);
  data_scratch_map = static_cast<data_scratch_map_t*>(data_scratch);
  host->get_hbm_scratch(&hbm_scratch, &hbm_scratch_size);
  unsigned int m2s = 0, s2m = 0;
  host->get_dma_queue(&m2s, &s2m);
  dma_queue_m2s_offset = m2s;
  dma_queue_s2m_offset = s2m;
  if (host->get_libc_fn != nullptr) {
    host_libc.write = reinterpret_cast<int (*)(int, const void*, unsigned int)>(host->get_libc_fn("write"));
    host_libc.exit = reinterpret_cast<void (*)(int)>(host->get_libc_fn("exit"));
  }
}

}  // namespace

/// Walks the generated table; the first status other than success ends the walk.
SUNDA_UCODE_LIB_STATUS register_funcs(SUNDA_UCODE_LIB_STATUS (*cb)(void*, const char*, int (*)())) {
  const int count = get_func_cnt();
  for (int i = 0; i < count; ++i) {
    const SUNDA_UCODE_LIB_STATUS status = cb(my_handle, get_func_name(i), get_func_ptr(i));
    if (status != SUNDA_UCODE_LIB_SUCCESS) return status;
  }
  return SUNDA_UCODE_LIB_SUCCESS;
}

SUNDA_UCODE_LIB_STATUS entry_func(SUNDA_UCODE_LIB* host) {
  _use_default_malloc = true;
  if (&environ != nullptr) environ = null_environ;
  if (host->sizeof_ncore_ucode_lib < sizeof(SUNDA_UCODE_LIB)) return SUNDA_UCODE_LIB_FAILURE_ABI_MISMATCH;
  my_handle = host->library_handle;
  ask_host(host);
  NEURON_REFERENCE_ASSERT(extended_isa::sdk::data_scratch_size >= sizeof(data_scratch_map_t),
                          "start_exit.cpp:451 extended_isa::sdk::data_scratch_size >= sizeof(data_scratch_map_t)");
  if (first_entry) {
    first_entry = 0;
    _init();
  }
  if (static_cast<unsigned int>(get_func_cnt()) >= MAX_FUNCS) return SUNDA_UCODE_LIB_FAILURE_NUM_KERNELS;
  return register_funcs(host->register_ext_isa_fn);
}

/// The same function under its C name (spec customop-abi.md Q-1).
extern "C" SUNDA_UCODE_LIB_STATUS entry_func_c(SUNDA_UCODE_LIB* host) asm("entry_func");
extern "C" SUNDA_UCODE_LIB_STATUS entry_func_c(SUNDA_UCODE_LIB* host) { return entry_func(host); }

extern "C" SUNDA_UCODE_LIB_STATUS _start(SUNDA_UCODE_LIB* host) {
  if (first_entry) clear_bss();
  return entry_func(host);
}

/// Names every other member, so that one pass over this archive brings in all ten whatever a kernel uses and libc10.a, which
/// comes later, finds them. Nothing refers to the table: the linker collects it and what it alone kept.
extern const void* const neuron_archive_members[];
const void* const neuron_archive_members[] = {
    reinterpret_cast<const void*>(&customop_setup),
    reinterpret_cast<const void*>(&_init_translate_ctx),
    reinterpret_cast<const void*>(&init_neuron_hbm_allocator),
    reinterpret_cast<const void*>(&init_dma_queue),
    reinterpret_cast<const void*>(&c10::GetNeuronAllocator),
    reinterpret_cast<const void*>(&switch_stack_or_call_wrapper),
    reinterpret_cast<const void*>(&at::neuron::tcm_malloc),
    reinterpret_cast<const void*>(&get_cpu_id),
};
