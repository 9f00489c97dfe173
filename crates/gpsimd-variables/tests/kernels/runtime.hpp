// SPDX-License-Identifier: Apache-2.0
//
// The few functions of the runtime that the tests' programs need, so that nothing else is linked. Nobody moves memory.
#pragma once

#include <torch/torch.h>

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
// Of device memory below the core's own every element is 1.0f, and what is written there is lost.
int neuron_memcpy(void* to, unsigned long long from, size_t bytes) {
  for (size_t at = 0; at < bytes / 4; ++at)
    static_cast<unsigned*>(to)[at] = from < 0x80000000u ? 0x3f800000 : reinterpret_cast<unsigned*>(unsigned(from))[at];
  return 0;
}
int neuron_memcpy(unsigned long long to, void* from, size_t bytes) {
  for (size_t at = 0; to >= 0x80000000u && at < bytes / 4; ++at)
    reinterpret_cast<unsigned*>(unsigned(to))[at] = static_cast<unsigned*>(from)[at];
  return 0;
}
void* at::neuron::tcm_malloc(size_t bytes) { return take(bytes); }
void at::neuron::tcm_free(void*) {}

extern "C" void _Assert(const char*, int) { abort(); }
extern "C" void abort() { for (;;) {} }
void at::TensorBase::undefined() { abort(); }
size_t at::TensorBase::wrap_dim(int64_t d) const { return d; }
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

inline at::Tensor made(unsigned long long address, at::ScalarType dtype, at::IntArrayRef sizes, at::IntArrayRef strides) {
  c10::UniqueQ7Ptr data{c10::Q7PtrType(address, nullptr)};
  c10::intrusive_ptr<c10::NeuronStorageImpl> storage(new c10::NeuronStorageImpl(4096, static_cast<c10::UniqueQ7Ptr&&>(data)));
  c10::intrusive_ptr<c10::NeuronTensorImpl> tensor(new c10::NeuronTensorImpl(storage, dtype));
  tensor->set_sizes_and_strides(sizes, strides);
  return at::Tensor(tensor);
}
