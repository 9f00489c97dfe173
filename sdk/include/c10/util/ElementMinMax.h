// SPDX-License-Identifier: Apache-2.0
//
// std::max and std::min of an element and a number. Unaware of how elements are read: they convert.
#pragma once

namespace at {
template <typename T, bool read_only>
class TensorElementReference;

namespace detail {

/// The element type if one of two different types is an accessor's element.
template <typename A, typename B>
struct MixedElement {};
template <typename T, bool r, typename B>
struct MixedElement<TensorElementReference<T, r>, B> {
  typedef T type;
};
template <typename A, typename T, bool r>
struct MixedElement<A, TensorElementReference<T, r>> {
  typedef T type;
};
template <typename T, bool r, typename U, bool s>
struct MixedElement<TensorElementReference<T, r>, TensorElementReference<U, s>> {
  typedef T type;
};
// The library's own serves these.
template <typename T, bool r>
struct MixedElement<TensorElementReference<T, r>, TensorElementReference<T, r>> {};

}  // namespace detail
}  // namespace at

namespace std {

template <typename A, typename B, typename T = typename at::detail::MixedElement<A, B>::type>
inline T max(const A& a, const B& b) {
  const T first = static_cast<T>(a), second = static_cast<T>(b);
  return first < second ? second : first;
}
template <typename A, typename B, typename T = typename at::detail::MixedElement<A, B>::type>
inline T min(const A& a, const B& b) {
  const T first = static_cast<T>(a), second = static_cast<T>(b);
  return second < first ? second : first;
}

}  // namespace std
