// SPDX-License-Identifier: Apache-2.0
//
// TORCH_CHECK on the host: throws c10::Error with the words put together. Stands in for the device header of this name,
// which prints and stops.
#pragma once

#include <sstream>
#include <stdexcept>

namespace c10 {

/// What a failed TORCH_CHECK throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

template <typename... Parts>
[[noreturn]] void check_failed(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(message.str());
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
