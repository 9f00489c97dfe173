// SPDX-License-Identifier: Apache-2.0
//
// TORCH_CHECK for shape functions: throws c10::Error with the words put together. Stands in for the kernels' header of this
// name, which prints and stops. No streams: the core that shape functions run on has none.
#pragma once

#include <stdio.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace c10 {

/// What a failed TORCH_CHECK throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// ---- One part of a message, as an ostream would write it. A type of one's own gets another `put` in its namespace. ----

inline void put(std::string& text, std::string_view part) { text += part; }
inline void put(std::string& text, char part) { text += part; }
inline void put(std::string& text, double part) {
  char digits[32];
  text.append(digits, static_cast<size_t>(snprintf(digits, sizeof digits, "%g", part)));
}
template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
void put(std::string& text, T part) {
  text += std::to_string(part);
}

namespace detail {

template <typename... Parts>
[[noreturn]] void check_failed(const Parts&... parts) {
  std::string message;
  (put(message, parts), ...);
  throw Error(message);
}

}  // namespace detail
}  // namespace c10

/// Throws c10::Error with the given message parts unless `condition` holds.
#define TORCH_CHECK(condition, ...)                  \
  do {                                               \
    if (!(condition)) {                              \
      ::c10::detail::check_failed("" __VA_ARGS__);   \
    }                                                \
  } while (false)

#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
