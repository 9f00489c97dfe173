// SPDX-License-Identifier: Apache-2.0
//
// The device of a native twin: what sdk/src/neuroncustomop is to a core, for a thread of this machine. Tensors and operators
// are the device's own sources (sdk/src/c10), compiled along; addresses are pointers, and every block of TCM or HBM is one of
// the host's heap, so that a sanitizer sees the end of each.
//
// Kernels know no exceptions, and a failed check must not end the process that called: it leaves the kernel by longjmp, as the
// device's abort does without destructors, and what the kernel held is freed with its core.

#include "native.h"

#include <neuron_torch_extension/NeuronAllocator.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

/// What all cores of a call share.
struct Call {
  const gpsimd_native::Op* op;
  const gpsimd_native_argument* arguments;
  uint32_t count;
};

/// Blocks of one memory that are not freed yet.
class Heap {
 public:
  explicit Heap(size_t capacity) : free_(capacity) {}
  ~Heap() {
    for (const Block& block : blocks_) free(block.at);
  }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  size_t left() const { return free_; }
  void* allocate(size_t bytes, size_t alignment) {
    const size_t taken = (bytes + GRAIN - 1) / GRAIN * GRAIN;
    void* at = nullptr;
    if (bytes == 0 || taken < bytes || taken > free_) return nullptr;
    if (posix_memalign(&at, std::max(alignment, GRAIN), bytes) != 0) return nullptr;
    blocks_.push_back({at, bytes, taken});
    free_ -= taken;
    return at;
  }
  bool deallocate(const void* at) {
    const auto block = find(at);
    if (block == blocks_.end()) return false;
    free_ += block->taken;
    free(block->at);
    blocks_.erase(block);
    return true;
  }
  bool size_of(const void* at, size_t* bytes) {
    const auto block = find(at);
    if (block != blocks_.end()) *bytes = block->bytes;
    return block != blocks_.end();
  }

 private:
  struct Block {
    void* at;
    size_t bytes, taken;
  };
  static constexpr size_t GRAIN = 64;

  std::vector<Block>::iterator find(const void* at) {
    return std::find_if(blocks_.begin(), blocks_.end(), [at](const Block& block) { return block.at == at; });
  }

  std::vector<Block> blocks_;
  size_t free_;
};
constexpr size_t Heap::GRAIN;

constexpr size_t TCM_BYTES = 16384;
constexpr uint32_t CORES = 8;

/// A core while it runs a kernel.
struct Core {
  Core(const Call& its_call, uint32_t its_id) : call(its_call), id(its_id), tcm(TCM_BYTES), hbm(SIZE_MAX) {}

  void run();
  const gpsimd_native_argument& next_argument();

  const Call& call;
  const uint32_t id;
  uint32_t next = 1;
  bool is_dst_asked = false;
  bool is_done = false;
  Heap tcm, hbm;
  /// What went to the device's log.
  std::string said;
  jmp_buf end;
};

/// The core that this thread is.
thread_local Core* core = nullptr;

[[noreturn]] void stop(const char* text) {
  core->said += text;
  longjmp(core->end, 1);
}

void Core::run() {
  core = this;
  if (setjmp(end) == 0) {
    try {
      call.op->call();
      is_done = true;
    } catch (const std::exception& error) {  // of the C++ library, which throws here
      said += error.what();
    }
  }
  core = nullptr;
}

const gpsimd_native_argument& Core::next_argument() {
  if (next >= call.count) stop("the kernel takes more arguments than the call has");
  return call.arguments[next++];
}

at::Tensor tensor(const gpsimd_native_argument& argument) {
  if (argument.rank == 0) stop("Input and output tensors cannot have 0 dimensions - must be of at least rank 1");
  return at::detail::make_borrowed_tensor(c10::Q7PtrType(reinterpret_cast<uintptr_t>(argument.data)),
                                          c10::IntArrayRef(argument.sizes, argument.rank),
                                          static_cast<c10::ScalarType>(argument.dtype));
}

template <typename T>
T number(const gpsimd_native_argument& argument) {
  T value;
  memcpy(&value, argument.data, sizeof value);
  return value;
}

/// Bytes of all tensors below which threads cost more time than they save: the cores then run one after the other.
constexpr unsigned long long ALONE_BYTES = 128 * 1024;

bool is_small(const Call& call) {
  unsigned long long bytes = 0;
  for (uint32_t i = 0; i < call.count; ++i) {
    unsigned long long elements = 1;
    for (uint32_t d = 0; d < call.arguments[i].rank; ++d) elements *= static_cast<unsigned long long>(call.arguments[i].sizes[d]);
    bytes += elements * c10::elementSize(static_cast<c10::ScalarType>(call.arguments[i].dtype));
  }
  return bytes < ALONE_BYTES;
}

/// Runs the call on so many cores; gives why one of them did not come to its end.
std::string run(const Call& call, uint32_t count) {
  std::vector<std::string> said(count);
  std::vector<char> is_done(count);
  const auto run_core = [&](uint32_t id) {
    Core one(call, id);
    one.run();
    said[id] = std::move(one.said);
    is_done[id] = one.is_done;
  };
  if (count == 1 || is_small(call)) {
    for (uint32_t id = 0; id < count; ++id) run_core(id);
  } else {
    std::vector<std::thread> threads;
    for (uint32_t id = 1; id < count; ++id) threads.emplace_back(run_core, id);
    run_core(0);
    for (std::thread& thread : threads) thread.join();
  }
  for (uint32_t id = 0; id < count; ++id) {
    if (!is_done[id]) return "core " + std::to_string(id) + ": " + said[id];
    fputs(said[id].c_str(), stderr);
  }
  return std::string();
}

}  // namespace

extern "C" {

uint32_t gpsimd_native_version() { return GPSIMD_NATIVE_VERSION; }

int gpsimd_native_call(const char* kernel, const gpsimd_native_argument* arguments, uint32_t count, uint32_t cores, char* message,
                       size_t room) {
  const gpsimd_native::Op* op = gpsimd_native::ops;
  while (op->kernel != nullptr && strcmp(op->kernel, kernel) != 0) ++op;
  std::string text;
  if (op->kernel == nullptr) {
    text = "there is no such kernel";
  } else if (count == 0 || cores == 0 || cores > CORES) {
    text = "a call has an output, and one core or eight";
  } else {
    try {
      text = run(Call{op, arguments, count}, cores);
    } catch (const std::exception& error) {  // no memory, no thread
      text = error.what();
    }
  }
  if (room != 0) {
    const size_t n = std::min(text.size(), room - 1);
    memcpy(message, text.data(), n);
    message[n] = '\0';
  }
  return text.empty() ? 0 : -1;
}

// ---- The ways a kernel ends early. The linker sends its calls of abort and of assert's function here. ----

[[noreturn]] void __real_abort();
[[noreturn]] void __wrap_abort() {
  if (core == nullptr) __real_abort();
  stop(core->said.empty() ? "the kernel called abort()" : "");
}

[[noreturn]] void __wrap___assert_fail(const char* expression, const char* file, unsigned int line, const char* function) {
  if (core == nullptr) __real_abort();
  const std::string text = std::string("assertion \"") + expression + "\" failed: " + file + ":" + std::to_string(line) + " " +
                           (function == nullptr ? "" : function);
  core->said += text;
  stop("");
}

[[noreturn]] void _Assert(const char* message, int) {
  if (core == nullptr) __real_abort();
  stop(message);
}

void neuron_emit(int fd, const char* text, size_t n) {
  if (fd == 2 && core != nullptr) {
    core->said.append(text, n);
  } else {
    fwrite(text, 1, n, stdout);
  }
}

}  // extern "C"

// ---- neuron/neuron-utils.hpp, neuron/custom_op.h: addresses are this machine's pointers. ----

unsigned int get_cpu_id() { return core->id; }
unsigned int get_cpu_count() { return CORES; }

void* neuron_translate_ctx() { return nullptr; }
void* neuron_translate(void*, unsigned long long addr) { return reinterpret_cast<void*>(static_cast<uintptr_t>(addr)); }
int neuron_translate_mapping_lookup(void*, unsigned long long, unsigned long long* first, unsigned long long* last) {
  *first = 0;
  *last = ~0ull;
  return 0;
}

int neuron_hbm_allocate(size_t nbytes, unsigned long long* ptr, size_t alignment) {
  void* const at = core->hbm.allocate(nbytes, alignment);
  if (at == nullptr) return -1;
  *ptr = reinterpret_cast<uintptr_t>(at);
  return 0;
}
int neuron_hbm_deallocate(unsigned long long ptr) { return core->hbm.deallocate(neuron_translate(nullptr, ptr)) ? 0 : -1; }
int neuron_hbm_get_alloc_size(unsigned long long ptr, size_t* nbytes) {
  return core->hbm.size_of(neuron_translate(nullptr, ptr), nbytes) ? 0 : -1;
}

int neuron_dataram_allocate(size_t nbytes, void** ptr, size_t alignment) {
  *ptr = core->tcm.allocate(nbytes, alignment);
  return *ptr != nullptr ? 0 : -1;
}
int neuron_dataram_deallocate(void* ptr) { return core->tcm.deallocate(ptr) ? 0 : -1; }
int neuron_dataram_max_free_space(size_t* nbytes, size_t alignment) {
  if ((alignment & (alignment - 1)) != 0) return -1;
  *nbytes = core->tcm.left();
  return 0;
}

int neuron_memcpy(void* dst, unsigned long long src, size_t nbytes) {
  if (nbytes != 0) memcpy(dst, neuron_translate(nullptr, src), nbytes);
  return 0;
}
int neuron_memcpy(unsigned long long dst, void* src, size_t nbytes) {
  if (nbytes != 0) memcpy(neuron_translate(nullptr, dst), src, nbytes);
  return 0;
}
int neuron_set_memcpy_method(NeuronMemcpyMethod method) { return static_cast<unsigned int>(method) < MAX_METHODS ? 0 : -1; }

namespace at {
namespace neuron {

void* tcm_malloc(size_t nbytes) { return core->tcm.allocate(nbytes, 0); }
void tcm_free(void* ptr) {
  if (ptr != nullptr) core->tcm.deallocate(ptr);
}

}  // namespace neuron
}  // namespace at

namespace c10 {

NeuronAllocator* GetNeuronAllocator() {
  static NeuronAllocator allocator;
  return &allocator;
}

}  // namespace c10

// ---- neuron/wrapper_api.h. ----

at::Tensor customop_next_tensor() { return tensor(core->next_argument()); }
int customop_next_int() { return number<int>(core->next_argument()); }
long long customop_next_longlong() { return number<long long>(core->next_argument()); }
float customop_next_float() { return number<float>(core->next_argument()); }
c10::Scalar customop_next_scalar() {
  const gpsimd_native_argument& argument = core->next_argument();
  switch (static_cast<c10::ScalarType>(argument.dtype)) {
    case c10::ScalarType::Float:
      return c10::Scalar(number<float>(argument));
    case c10::ScalarType::Int:
      return c10::Scalar(number<int>(argument));
    case c10::ScalarType::Long:
      return c10::Scalar(number<long long>(argument));
    default:
      stop("a Scalar travels as float32, int32 or int64");
  }
}

at::Tensor get_dst_tensor() {
  core->is_dst_asked = true;
  return tensor(core->call.arguments[0]);
}

void customop_return_tensor(at::Tensor& result) {
  if (core->is_dst_asked) return;
  at::Tensor output = tensor(core->call.arguments[0]);
  TORCH_CHECK(result.scalar_type() == output.scalar_type(), "the kernel's result is of ", c10::toString(result.scalar_type()),
              ", the output of ", c10::toString(output.scalar_type()));
  TORCH_CHECK(result.nbytes() == output.nbytes(), "the kernel's result has ", result.nbytes(), " bytes, the output needs ",
              output.nbytes());
  TORCH_CHECK(result.sizes() == output.sizes() && result.is_contiguous(),
              "the kernel's result has another shape or order than the output");
  neuron_memcpy(output.q7_data_ptr().hbm_addr, neuron_translate(nullptr, result.q7_data_ptr().hbm_addr), result.nbytes());
}

// ---- Tensors and operators: the device's. ----

#include "../src/c10/Scalar.cpp"
#include "../src/c10/coherence.cpp"
#include "../src/c10/exception.cpp"
#include "../src/c10/ops_arithmetic.cpp"
#include "../src/c10/ops_bitwise.cpp"
#include "../src/c10/ops_clamp.cpp"
#include "../src/c10/ops_factories.cpp"
#include "../src/c10/ops_lanes.cpp"
#include "../src/c10/ops_math.cpp"
#include "../src/c10/ops_pow.cpp"
#include "../src/c10/ops_rounding.cpp"
#include "../src/c10/tensor.cpp"
#include "../src/c10/tensor_fill.cpp"
#include "../src/c10/tensor_impl.cpp"
