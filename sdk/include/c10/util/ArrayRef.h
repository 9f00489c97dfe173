// SPDX-License-Identifier: Apache-2.0
//
// c10::ArrayRef: a view of consecutive elements that does not own them, and IntArrayRef, the type of every shape.
// Facts: spec user-api.md §3, §8.1.
#pragma once

#include <initializer_list>
#include <stddef.h>
#include <stdint.h>

namespace c10 {
namespace detail {

/// One extent in a braced shape. Any integer type converts, so `{num_elem}` with a `size_t` is no narrowing
/// on a 64-bit host (spec user-api.md §8.1) and `{n, 3}` may mix types; a floating-point extent does not compile.
struct Extent {
  int64_t value;
  constexpr Extent(int v) : value(v) {}
  constexpr Extent(unsigned int v) : value(v) {}
  constexpr Extent(long v) : value(v) {}
  constexpr Extent(unsigned long v) : value(static_cast<int64_t>(v)) {}
  constexpr Extent(long long v) : value(v) {}
  constexpr Extent(unsigned long long v) : value(static_cast<int64_t>(v)) {}
  Extent(float) = delete;
  Extent(double) = delete;
};
static_assert(sizeof(Extent) == sizeof(int64_t), "a braced shape is read as an array of int64_t");

template <typename T>
struct Braced {
  typedef T type;
};
template <>
struct Braced<int64_t> {
  typedef Extent type;
};

} // namespace detail

/// A non-owning view of `size()` elements. A view of a braced list is valid until the end of the full
/// expression, as in PyTorch: pass it, do not keep it.
template <typename T>
class ArrayRef final {
public:
  typedef const T* iterator;
  typedef const T* const_iterator;
  typedef T value_type;
  typedef size_t size_type;

  constexpr ArrayRef() : data_(nullptr), size_(0) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  /// A view of one element.
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}
  /// A view of a contiguous container: `std::vector<T>`, `std::array<T, N>`.
  template <typename Container, typename = decltype(static_cast<const T *>(((const Container *)nullptr)->data()) +
                                                    ((const Container *)nullptr)->size())>
  ArrayRef(const Container& container) : data_(container.data()), size_(container.size()) {}
  ArrayRef(const std::initializer_list<typename detail::Braced<T>::type>& list) : data_(nullptr), size_(list.size()) {
    // Assigned, not initialised: the view is known to end with the full expression.
    data_ = reinterpret_cast<const T *>(list.begin());
  }

  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + size_; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  /// Element `i`; not checked.
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  constexpr const T& at(size_t i) const { return data_[i]; }
  /// `count` elements from `start`; not checked.
  constexpr ArrayRef slice(size_t start, size_t count) const { return ArrayRef(data_ + start, count); }
  constexpr ArrayRef slice(size_t start) const { return slice(start, size_ - start); }

  bool equals(ArrayRef other) const {
    if (size_ != other.size_)
      return false;
    for (size_t i = 0; i < size_; ++i)
      if (!(data_[i] == other.data_[i]))
        return false;
    return true;
  }
  friend bool operator==(ArrayRef a, ArrayRef b) { return a.equals(b); }
  friend bool operator!=(ArrayRef a, ArrayRef b) { return !a.equals(b); }

private:
  const T* data_;
  size_t size_;
};

/// A shape: extents, outermost first.
typedef ArrayRef<int64_t> IntArrayRef;

} // namespace c10
