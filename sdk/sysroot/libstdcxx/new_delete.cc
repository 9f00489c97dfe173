// SPDX-License-Identifier: Apache-2.0
// The heap operators. Where the standard says std::bad_alloc, the program stops.
#include <cstdlib>
#include <new>

namespace std {
const nothrow_t nothrow{};
}

namespace {
// Every object has an address of its own, also one of no bytes.
void *allocate(std::size_t size) { return std::malloc(size ? size : 1); }

void *allocate_or_abort(std::size_t size) {
  void *p = allocate(size);
  if (!p) std::abort();
  return p;
}

void *allocate(std::size_t size, std::align_val_t alignment) {
  return aligned_alloc(static_cast<std::size_t>(alignment), size ? size : 1);
}

void *allocate_or_abort(std::size_t size, std::align_val_t alignment) {
  void *p = allocate(size, alignment);
  if (!p) std::abort();
  return p;
}
} // namespace

void *operator new(std::size_t size) { return allocate_or_abort(size); }
void *operator new[](std::size_t size) { return allocate_or_abort(size); }
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return allocate(size); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept { return allocate(size); }

void operator delete(void *p) noexcept { std::free(p); }
void operator delete[](void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
void operator delete[](void *p, std::size_t) noexcept { std::free(p); }
void operator delete(void *p, const std::nothrow_t &) noexcept { std::free(p); }
void operator delete[](void *p, const std::nothrow_t &) noexcept { std::free(p); }

// The same for types that ask for more than the heap's own alignment (C++17).
void *operator new(std::size_t size, std::align_val_t a) { return allocate_or_abort(size, a); }
void *operator new[](std::size_t size, std::align_val_t a) { return allocate_or_abort(size, a); }
void *operator new(std::size_t size, std::align_val_t a, const std::nothrow_t &) noexcept { return allocate(size, a); }
void *operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t &) noexcept { return allocate(size, a); }

void operator delete(void *p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void *p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void *p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void *p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void *p, std::align_val_t, const std::nothrow_t &) noexcept { std::free(p); }
void operator delete[](void *p, std::align_val_t, const std::nothrow_t &) noexcept { std::free(p); }
