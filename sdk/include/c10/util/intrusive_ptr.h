// SPDX-License-Identifier: Apache-2.0
//
// Reference counting inside the object. One thread per core and no memory shared between cores, so the counts
// are plain integers (spec device-runtime.md §14).
#pragma once

#include <stddef.h>

namespace c10 {

/// Base of counted objects: vtable pointer, strong count, weak count (spec device-runtime.md §5.3).
class intrusive_ptr_target {
 public:
  intrusive_ptr_target(const intrusive_ptr_target&) = delete;
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) = delete;

 protected:
  intrusive_ptr_target() : refcount_(0), weakcount_(0) {}
  virtual ~intrusive_ptr_target();

 private:
  template <typename T>
  friend class intrusive_ptr;
  void retain() { ++refcount_; }
  void release();

  size_t refcount_;
  size_t weakcount_;
};

/// An owning pointer to a counted object; null by default.
template <typename T>
class intrusive_ptr {
 public:
  constexpr intrusive_ptr() : target_(nullptr) {}
  /// Shares ownership of `target`, which may be null.
  explicit intrusive_ptr(T* target) : target_(target) {
    if (target_) base()->retain();
  }
  intrusive_ptr(const intrusive_ptr& other) : intrusive_ptr(other.target_) {}
  intrusive_ptr(intrusive_ptr&& other) noexcept : target_(other.target_) { other.target_ = nullptr; }
  ~intrusive_ptr() { reset(); }
  intrusive_ptr& operator=(const intrusive_ptr& other) {
    intrusive_ptr copy(other);
    swap(copy);
    return *this;
  }
  intrusive_ptr& operator=(intrusive_ptr&& other) noexcept {
    intrusive_ptr taken(static_cast<intrusive_ptr&&>(other));
    swap(taken);
    return *this;
  }

  void swap(intrusive_ptr& other) noexcept {
    T* mine = target_;
    target_ = other.target_;
    other.target_ = mine;
  }
  void reset() {
    if (T* old = target_) {
      target_ = nullptr;
      static_cast<intrusive_ptr_target*>(old)->release();
    }
  }
  T* get() const { return target_; }
  T* operator->() const { return target_; }
  T& operator*() const { return *target_; }
  explicit operator bool() const { return target_ != nullptr; }
  /// Number of owners, 0 for null.
  size_t use_count() const { return target_ ? base()->refcount_ : 0; }

 private:
  intrusive_ptr_target* base() const { return target_; }

  T* target_;
};

}  // namespace c10
