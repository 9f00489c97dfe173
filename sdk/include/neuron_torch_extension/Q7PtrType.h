// SPDX-License-Identifier: Apache-2.0
//
// c10::Q7PtrType: a pointer to device memory that the core reaches through movable windows.
// Facts: spec device-runtime.md §4.
#pragma once

#include <neuron/custom_op.h>
#include <stddef.h>
#include <stdint.h>

namespace c10 {

/// A 64-bit device (SoC) byte address with the translation context to reach it. Address 0 is a valid pointer;
/// only the flag makes one null.
class Q7PtrType {
 public:
  Q7PtrType() : hbm_addr(0), ctx_ptr(neuron_translate_ctx()), is_nullptr(true) {}
  Q7PtrType(decltype(nullptr)) : Q7PtrType() {}
  /// A non-null pointer to SoC byte address `addr`.
  Q7PtrType(uint64_t addr) : hbm_addr(addr), ctx_ptr(neuron_translate_ctx()), is_nullptr(false) {}
  Q7PtrType(uint64_t addr, void* ctx) : hbm_addr(addr), ctx_ptr(ctx), is_nullptr(false) {}

  /// Element `i` of an array of `T` here. The reference is good only until the next translation.
  template <typename T>
  __attribute__((always_inline)) T& operator[](size_t i) const {
    return *static_cast<T*>(neuron_translate(ctx_ptr, hbm_addr + static_cast<uint64_t>(sizeof(T)) * i));
  }
  /// The address `i` elements of `T` further on; translates nothing.
  template <typename T>
  Q7PtrType operator+(size_t i) const {
    return Q7PtrType(hbm_addr + static_cast<uint64_t>(sizeof(T)) * i, ctx_ptr);
  }
  operator bool() const { return !is_nullptr; }

  uint64_t hbm_addr;
  void* ctx_ptr;
  bool is_nullptr;
};

inline bool operator==(const Q7PtrType& p, decltype(nullptr)) { return p.is_nullptr; }
inline bool operator==(decltype(nullptr), const Q7PtrType& p) { return p.is_nullptr; }
inline bool operator!=(const Q7PtrType& p, decltype(nullptr)) { return !p.is_nullptr; }
inline bool operator!=(decltype(nullptr), const Q7PtrType& p) { return !p.is_nullptr; }

/// How memory behind a Q7PtrType is given back.
typedef void (*Q7DeleterFnPtr)(Q7PtrType);

/// The deleter of UniqueQ7Ptr: one function pointer, by default one that keeps the memory.
struct Q7Deleter {
  using pointer = Q7PtrType;
  static void delete_nothing(Q7PtrType) {}
  Q7Deleter() = default;
  Q7Deleter(Q7DeleterFnPtr deleter) : deleter_(deleter) {}
  void operator()(Q7PtrType p) const { deleter_(p); }

  Q7DeleterFnPtr deleter_ = delete_nothing;
};

/// Unique ownership of device memory: what `std::unique_ptr<Q7PtrType, Q7Deleter>` is in the reference, with its layout
/// (pointer, then deleter) whatever the C++ library, and without the cost of `<memory>` in every kernel.
class UniqueQ7Ptr {
 public:
  UniqueQ7Ptr() = default;
  explicit UniqueQ7Ptr(Q7PtrType p) : ptr_(p) {}
  UniqueQ7Ptr(Q7PtrType p, Q7Deleter deleter) : ptr_(p), deleter_(deleter) {}
  UniqueQ7Ptr(UniqueQ7Ptr&& other) noexcept : ptr_(other.ptr_), deleter_(other.deleter_) { other.ptr_.is_nullptr = true; }
  UniqueQ7Ptr& operator=(UniqueQ7Ptr&& other) noexcept {
    if (this != &other) {
      reset();
      ptr_ = other.ptr_;
      deleter_ = other.deleter_;
      other.ptr_.is_nullptr = true;
    }
    return *this;
  }
  UniqueQ7Ptr(const UniqueQ7Ptr&) = delete;
  UniqueQ7Ptr& operator=(const UniqueQ7Ptr&) = delete;
  ~UniqueQ7Ptr() { reset(); }

  Q7PtrType get() const { return ptr_; }
  Q7Deleter& get_deleter() { return deleter_; }
  explicit operator bool() const { return !ptr_.is_nullptr; }
  /// Gives ownership away.
  Q7PtrType release() {
    Q7PtrType p = ptr_;
    ptr_.is_nullptr = true;
    return p;
  }
  /// Frees what is owned, if anything.
  void reset() {
    if (!ptr_.is_nullptr) {
      ptr_.is_nullptr = true;
      deleter_(Q7PtrType(ptr_.hbm_addr, ptr_.ctx_ptr));
    }
  }

 private:
  Q7PtrType ptr_;
  Q7Deleter deleter_;
};

#if defined(__XTENSA__)
static_assert(sizeof(Q7PtrType) == 16 && alignof(Q7PtrType) == 8, "spec device-runtime.md §4.1");
static_assert(offsetof(Q7PtrType, ctx_ptr) == 8 && offsetof(Q7PtrType, is_nullptr) == 12, "spec device-runtime.md §4.1");
static_assert(sizeof(Q7Deleter) == 4 && sizeof(UniqueQ7Ptr) == 24, "spec device-runtime.md §4.3");
#endif

}  // namespace c10
