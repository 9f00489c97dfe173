// SPDX-License-Identifier: Apache-2.0
//
// TORCH_CHECK and the reference assertion: no exceptions here, a failed check prints and aborts
// (spec device-runtime.md §17, decision in §21). Unaware of stdio: messages go straight to file descriptor 2.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Prints `message` and a newline on fd 2, then aborts. The second argument is always 0.
extern "C" [[noreturn]] void _Assert(const char* message, int zero);

namespace c10 {
namespace detail {

/// Writes the parts of one message to fd 2, one after the other, and aborts in `fail`.
class CheckMessage {
 public:
  CheckMessage& operator<<(const char* text);
  CheckMessage& operator<<(char c);
  CheckMessage& operator<<(bool value) { return *this << (value ? "true" : "false"); }
  CheckMessage& operator<<(int value) { return *this << static_cast<long long>(value); }
  CheckMessage& operator<<(unsigned int value) { return *this << static_cast<unsigned long long>(value); }
  CheckMessage& operator<<(long value) { return *this << static_cast<long long>(value); }
  CheckMessage& operator<<(unsigned long value) { return *this << static_cast<unsigned long long>(value); }
  CheckMessage& operator<<(long long value);
  CheckMessage& operator<<(unsigned long long value);
  /// Four decimals at most: enough for a message without bringing printf into every image.
  CheckMessage& operator<<(double value);
  /// Ends the message with `(file:line)` and aborts.
  [[noreturn]] void fail(const char* file, int line);
};

inline void append(CheckMessage&) {}
template <typename First, typename... Rest>
void append(CheckMessage& message, const First& first, const Rest&... rest) {
  message << first;
  append(message, rest...);
}

/// Out of line on purpose: the failing path of a check costs one call.
template <typename... Parts>
[[noreturn]] __attribute__((noinline, cold)) void check_failed(const char* file, int line, const Parts&... parts) {
  CheckMessage message;
  append(message, parts...);
  message.fail(file, line);
}

}  // namespace detail
}  // namespace c10

// The file's last component: a message must not carry the directories of the machine that built the archive.
#ifdef __FILE_NAME__
#define C10_FILE_NAME_ __FILE_NAME__
#else
#define C10_FILE_NAME_ __FILE__
#endif

/// Aborts with the given message parts unless `condition` holds.
#define TORCH_CHECK(condition, ...)                                       \
  do {                                                                    \
    if (__builtin_expect(!(condition), 0)) {                              \
      ::c10::detail::check_failed(C10_FILE_NAME_, __LINE__, ##__VA_ARGS__); \
    }                                                                     \
  } while (false)

/// As TORCH_CHECK, for conditions that only a defect of the library can break.
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)

/// An assertion of the reference runtime. `tail` is its exact `file:line expression` text, whatever our own file
/// and line are, so that logs stay searchable (spec customop-abi.md §11).
#define NEURON_REFERENCE_ASSERT(condition, tail) (__builtin_expect(!(condition), 0) ? ::_Assert(tail, 0) : (void)0)
