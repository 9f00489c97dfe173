// One variable of each type that has a printer. The few functions of the runtime that these need are here, so that nothing
// but this file is linked: device memory begins at 0x1000, and nobody moves it.
#include <gpsimd/kit.hpp>
#include <torch/torch.h>

#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#define stop() __asm__ volatile("break 0, 0" ::: "memory")

alignas(64) static char arena[16384];
static size_t taken;

static void* take(size_t bytes) {
  char* block = arena + taken;
  taken += (bytes + 63) / 64 * 64;
  return block;
}

void* operator new(size_t bytes) { return take(bytes); }
void operator delete(void*) noexcept {}
void operator delete(void*, size_t) noexcept {}

void* neuron_translate_ctx() { return nullptr; }
int neuron_dataram_allocate(size_t bytes, void** block, size_t) {
  *block = take(bytes);
  return 0;
}
int neuron_dataram_deallocate(void*) { return 0; }
// every element that arrives is 1.0f
int neuron_memcpy(void* to, unsigned long long, size_t bytes) {
  for (size_t at = 0; at < bytes / 4; ++at) static_cast<unsigned*>(to)[at] = 0x3f800000;
  return 0;
}
int neuron_memcpy(unsigned long long, void*, size_t) { return 0; }
void* at::neuron::tcm_malloc(size_t bytes) { return take(bytes); }
void at::neuron::tcm_free(void*) {}

extern "C" void _Assert(const char*, int) { abort(); }
extern "C" void abort() { for (;;) {} }
void at::TensorBase::undefined() { abort(); }
void at::CoherencyEnforcer::warn() const {}
void c10::detail::scalar_overflow(const char*) { abort(); }
void at::detail::stream_past_end(size_t) { abort(); }
void at::detail::stream_is_closed() {}

namespace c10 {
intrusive_ptr_target::~intrusive_ptr_target() {}
void intrusive_ptr_target::release() { --refcount_; }
NeuronStorageImpl::~NeuronStorageImpl() {}
NeuronTensorImpl::~NeuronTensorImpl() {}
void NeuronTensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides) {
  dim_ = sizes.size();
  for (size_t d = 0; d < dim_; ++d) {
    sizes_[d] = sizes[d];
    strides_[d] = strides[d];
    numel_ *= sizes[d];
  }
}
}  // namespace c10

static at::Tensor made(unsigned long long address, at::ScalarType dtype, at::IntArrayRef sizes, at::IntArrayRef strides) {
  c10::UniqueQ7Ptr data{c10::Q7PtrType(address, nullptr)};
  c10::intrusive_ptr<c10::NeuronStorageImpl> storage(new c10::NeuronStorageImpl(4096, static_cast<c10::UniqueQ7Ptr&&>(data)));
  c10::intrusive_ptr<c10::NeuronTensorImpl> tensor(new c10::NeuronTensorImpl(storage, dtype));
  tensor->set_sizes_and_strides(sizes, strides);
  return at::Tensor(tensor);
}

extern "C" int entry() {
  at::Tensor undefined;
  at::Tensor row = made(0x1000, at::kFloat, {5}, {1});
  at::Tensor grid = made(0x1000, at::kFloat, {2, 3}, {3, 1});
  at::Tensor turned = made(0x1000, at::kFloat, {3, 2}, {1, 3});
  at::Tensor halves = made(0x1100, at::kHalf, {3}, {1});
  at::Tensor brains = made(0x1100, at::kBFloat16, {2}, {1});
  at::Tensor bytes = made(0x1100, at::kByte, {2}, {1});
  at::Tensor scalar = made(0x1008, at::kFloat, {}, {});
  const at::Tensor& alias = grid;
  at::TensorAccessor<float, 2, true> access(c10::Q7PtrType(0x1000, nullptr), grid.sizes().data(), grid.strides().data(),
                                            *new at::CoherencyEnforcer);
  at::TensorElementReference<float, true> element(c10::Q7PtrType(0x1000, nullptr), 4);
  at::TensorTcmAccessor<false> copies{c10::Q7PtrType(0x1000, nullptr)};
  at::Half half(uint16_t(0x3e00), at::Half::from_bits());
  at::BFloat16 brain(uint16_t(0xbf80), at::BFloat16::from_bits());
  at::Scalar number(7);
  at::Scalar real(0.25);
  at::IntArrayRef sizes = grid.sizes();
  c10::Q7PtrType null(nullptr);
  c10::TensorOptions options(at::kHalf);
  at::ScalarType dtype = at::kBFloat16;
  gpsimd::Span span = {3, 9};
  gpsimd::Tcm<int> block(3);
  block[0] = 10; block[1] = 20; block[2] = 30;
  gpsimd::Window<float> window(grid, 4);
  float through = window[1];
  gpsimd::Sink<float> sink(grid, 2, 4);
  sink.push(1);
  at::CoherencyEnforcer open;
  at::TensorReadStreamAccessor<float> reader(c10::Q7PtrType(0x1000, nullptr), 24, open);
  through += reader.read();
  at::CoherencyEnforcer other;
  at::TensorWriteStreamAccessor<float> writer(c10::Q7PtrType(0x1000, nullptr), 24, other);
  writer.close();
  c10::UniqueQ7Ptr owned(c10::Q7PtrType(0x1000, nullptr));
  caffe2::TypeMeta meta = grid.dtype();
  c10::intrusive_ptr<c10::NeuronStorageImpl> shared(new c10::NeuronStorageImpl(64, c10::UniqueQ7Ptr()));
  std::optional<int> some = 5;
  std::optional<int> nothing;
  std::string text = "short";
  std::unique_ptr<int> only(new int(17));
  std::vector<int> many;
  many.push_back(1); many.push_back(2); many.push_back(3);
  std::vector<int> empty;
  std::array<short, 3> three = {{7, 8, 9}};
  std::pair<int, bool> pair(4, true);
  std::tuple<int, char, long long> tuple(1, 'x', -2);
  std::initializer_list<int> list = {5, 6};
  stop();
  return int(many.size() + three[0] + pair.first + std::get<0>(tuple) + list.size() + block[0] + empty.size() + span.begin +
             size_t(undefined.defined()) + row.dim() + turned.dim() + halves.dim() + brains.dim() + bytes.dim() +
             scalar.dim() + alias.dim() + sizes.size() + size_t(dtype) + half.x + brain.x) +
         number.toInt() + real.isFloatingPoint() + int(null.is_nullptr) + int(through) + bool(owned) + meta.itemsize() + shared.use_count() +
         some.value_or(1) + nothing.has_value() + int(text.size()) + *only + int(options.has_dtype());
}
