// SPDX-License-Identifier: Apache-2.0
//
// at::TensorAccessor: element access by index, one address translation per element read or written.
// Facts: spec device-runtime.md §6.
#pragma once

#include <ATen/core/Coherence.h>
#include <c10/util/ArrayRef.h>
#include <neuron_torch_extension/Q7PtrType.h>

namespace at {

// Inlined even at -Os: the proxy then never exists in memory, and an element costs one translation and one load or store.
#define ATEN_ELEMENT_INLINE inline __attribute__((always_inline))

/// One element, not yet read: it converts to `T` by loading and assigns by storing. A plain `T&` would dangle as soon as the
/// same expression touches another window.
template <typename T, bool read_only>
class TensorElementReference {
 public:
  ATEN_ELEMENT_INLINE TensorElementReference(const c10::Q7PtrType& data, size_t index) : data_(data), index_(index) {}
  TensorElementReference(const TensorElementReference&) = default;

  ATEN_ELEMENT_INLINE operator T() const { return data_.template operator[]<T>(index_); }

  ATEN_ELEMENT_INLINE TensorElementReference& operator=(T value) {
    static_assert(!read_only, "Can only write to non-const Tensors");
    data_.template operator[]<T>(index_) = value;
    return *this;
  }
  // `a[i] = b[j]` copies the element, not the reference; the source is read before the destination's window moves.
  ATEN_ELEMENT_INLINE TensorElementReference& operator=(const TensorElementReference& other) { return *this = static_cast<T>(other); }

  TensorElementReference& operator+=(T value) { return *this = static_cast<T>(static_cast<T>(*this) + value); }
  TensorElementReference& operator-=(T value) { return *this = static_cast<T>(static_cast<T>(*this) - value); }
  TensorElementReference& operator*=(T value) { return *this = static_cast<T>(static_cast<T>(*this) * value); }
  TensorElementReference& operator/=(T value) { return *this = static_cast<T>(static_cast<T>(*this) / value); }

 private:
  c10::Q7PtrType data_;
  const size_t index_;
};

/// What accessors of every rank share: address, shape borrowed from the tensor, and a slot in its coherence bookkeeping held
/// from construction to destruction.
template <typename T, size_t N, typename index_t = int64_t>
class TensorAccessorBase {
 public:
  typedef c10::Q7PtrType PtrType;

  TensorAccessorBase(const PtrType& data, const index_t* sizes, const index_t* strides, CoherencyEnforcer& enforcer)
      : data_(data), sizes_(sizes), strides_(strides), coherency_enforcer_(enforcer) {
    coherency_enforcer_.acquire_unbuffered_accessor();
  }
  TensorAccessorBase(const TensorAccessorBase& other)
      : TensorAccessorBase(other.data_, other.sizes_, other.strides_, other.coherency_enforcer_) {}
  TensorAccessorBase& operator=(const TensorAccessorBase&) = delete;
  virtual ~TensorAccessorBase() { coherency_enforcer_.release_unbuffered_accessor(); }

  /// Extents of the remaining `N` dimensions.
  c10::IntArrayRef sizes() const { return c10::IntArrayRef(sizes_, N); }
  /// Strides of the remaining `N` dimensions, in elements.
  c10::IntArrayRef strides() const { return c10::IntArrayRef(strides_, N); }
  index_t size(index_t d) const { return sizes_[d]; }
  index_t stride(index_t d) const { return strides_[d]; }

 protected:
  PtrType data_;
  const index_t* sizes_;
  const index_t* strides_;
  CoherencyEnforcer& coherency_enforcer_;
};

/// Subscript peels one dimension and translates nothing. No bounds check.
template <typename T, size_t N, bool read_only, typename index_t = int64_t>
class TensorAccessor : public TensorAccessorBase<T, N, index_t> {
 public:
  static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *p_data<T>()");
  using TensorAccessorBase<T, N, index_t>::TensorAccessorBase;

  TensorAccessor<T, N - 1, read_only, index_t> operator[](index_t i) const {
    return TensorAccessor<T, N - 1, read_only, index_t>(
        this->data_.template operator+<T>(static_cast<size_t>(this->strides_[0] * i)), this->sizes_ + 1, this->strides_ + 1,
        this->coherency_enforcer_);
  }
};

/// Rank 1: subscript names an element.
template <typename T, bool read_only, typename index_t>
class TensorAccessor<T, 1, read_only, index_t> : public TensorAccessorBase<T, 1, index_t> {
 public:
  using TensorAccessorBase<T, 1, index_t>::TensorAccessorBase;

  ATEN_ELEMENT_INLINE TensorElementReference<T, read_only> operator[](index_t i) const {
    return TensorElementReference<T, read_only>(this->data_, static_cast<size_t>(this->strides_[0] * i));
  }
};

#undef ATEN_ELEMENT_INLINE

}  // namespace at
