// SPDX-License-Identifier: Apache-2.0
//
// at::TensorAccessor: element access by index, one address translation per element read or written.
// Facts: spec device-runtime.md §6.
#pragma once

#include <ATen/core/Coherence.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <neuron_torch_extension/Q7PtrType.h>

namespace at {

// Inlined even at -Os: the proxy then never exists in memory, and an element costs one translation and one load or store.
#define ATEN_ELEMENT_INLINE inline __attribute__((always_inline))

namespace detail {

/// What an element converts to beside its own type; only the 16-bit floats have a second one, and theirs is float.
template <typename T>
struct Widened {
  struct Nothing {};
  typedef Nothing type;
};
template <>
struct Widened<c10::Half> {
  typedef float type;
};
template <>
struct Widened<c10::BFloat16> {
  typedef float type;
};

}  // namespace detail

/// One element, not yet read: it converts to `T` by loading and assigns by storing. A plain `T&` would dangle as soon as the
/// same expression touches another window.
template <typename T, bool read_only>
class TensorElementReference {
 public:
  ATEN_ELEMENT_INLINE TensorElementReference(const c10::Q7PtrType& data, size_t index) : data_(data), index_(index) {}
  TensorElementReference(const TensorElementReference&) = default;

  ATEN_ELEMENT_INLINE operator T() const { return data_.template operator[]<T>(index_); }
  /// `float v = a[i]` of half and bfloat16 elements. The documents do not settle whether it compiles; the tool says so, once.
  ATEN_ELEMENT_INLINE operator typename detail::Widened<T>::type() const {
    return static_cast<typename detail::Widened<T>::type>(value());
  }

  ATEN_ELEMENT_INLINE TensorElementReference& operator=(T value) {
    static_assert(!read_only, "Can only write to non-const Tensors");
    data_.template operator[]<T>(index_) = value;
    return *this;
  }
  // `a[i] = b[j]` copies the element, not the reference; the source is read before the destination's window moves.
  ATEN_ELEMENT_INLINE TensorElementReference& operator=(const TensorElementReference& other) { return *this = other.value(); }

  TensorElementReference& operator+=(T other) { return *this = static_cast<T>(value() + other); }
  TensorElementReference& operator-=(T other) { return *this = static_cast<T>(value() - other); }
  TensorElementReference& operator*=(T other) { return *this = static_cast<T>(value() * other); }
  TensorElementReference& operator/=(T other) { return *this = static_cast<T>(value() / other); }

  // Undocumented, too; PyTorch's elements are plain numbers.
  TensorElementReference& operator++() { return *this = static_cast<T>(value() + T(1)); }
  TensorElementReference& operator--() { return *this = static_cast<T>(value() - T(1)); }
  T operator++(int) {
    const T before = value();
    *this = static_cast<T>(before + T(1));
    return before;
  }
  T operator--(int) {
    const T before = value();
    *this = static_cast<T>(before - T(1));
    return before;
  }
  TensorElementReference& operator%=(T other) { return *this = static_cast<T>(value() % other); }
  TensorElementReference& operator&=(T other) { return *this = static_cast<T>(value() & other); }
  TensorElementReference& operator|=(T other) { return *this = static_cast<T>(value() | other); }
  TensorElementReference& operator^=(T other) { return *this = static_cast<T>(value() ^ other); }
  TensorElementReference& operator<<=(int count) { return *this = static_cast<T>(value() << count); }
  TensorElementReference& operator>>=(int count) { return *this = static_cast<T>(value() >> count); }

 private:
  ATEN_ELEMENT_INLINE T value() const { return this->operator T(); }

  c10::Q7PtrType data_;
  const size_t index_;
};

// Arithmetic of 16-bit elements is that of their type, as it was before they converted to float: one rounding an operator.
// Exact matches, so that neither conversion has to be chosen.
#define ATEN_ELEMENT_OPERATOR_(Type, op)                                                                             \
  template <bool r, bool s>                                                                                         \
  inline Type operator op(const TensorElementReference<Type, r>& a, const TensorElementReference<Type, s>& b) {      \
    return a.operator Type() op b.operator Type();                                                                  \
  }                                                                                                                 \
  template <bool r>                                                                                                 \
  inline Type operator op(const TensorElementReference<Type, r>& a, const Type& b) {                                 \
    return a.operator Type() op b;                                                                                  \
  }                                                                                                                 \
  template <bool r>                                                                                                 \
  inline Type operator op(const Type& a, const TensorElementReference<Type, r>& b) {                                 \
    return a op b.operator Type();                                                                                  \
  }                                                                                                                 \
  template <bool r, typename Number>                                                                                \
  inline auto operator op(const TensorElementReference<Type, r>& a, const Number& b)                                 \
      ->decltype(c10::detail::MixedResult<Type>::of(b), Type(0.0f)) {                                                \
    return a.operator Type() op Type(static_cast<float>(b));                                                        \
  }                                                                                                                 \
  template <bool r, typename Number>                                                                                \
  inline auto operator op(const Number& a, const TensorElementReference<Type, r>& b)                                 \
      ->decltype(c10::detail::MixedResult<Type>::of(a), Type(0.0f)) {                                                \
    return Type(static_cast<float>(a)) op b.operator Type();                                                        \
  }
#define ATEN_ELEMENT_OPERATORS_(Type)  \
  ATEN_ELEMENT_OPERATOR_(Type, +)      \
  ATEN_ELEMENT_OPERATOR_(Type, -)      \
  ATEN_ELEMENT_OPERATOR_(Type, *)      \
  ATEN_ELEMENT_OPERATOR_(Type, /)      \
  template <bool r>                    \
  inline Type operator-(const TensorElementReference<Type, r>& a) { return -a.operator Type(); }

ATEN_ELEMENT_OPERATORS_(c10::Half)
ATEN_ELEMENT_OPERATORS_(c10::BFloat16)

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
