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
  /// An address.
  CheckMessage& operator<<(const void* address);
  CheckMessage& operator<<(decltype(nullptr)) { return *this << "nullptr"; }
  /// Ends the message with `(file:line)` and aborts.
  [[noreturn]] void fail(const char* file, int line);
  /// Ends the message likewise and goes on.
  void warn(const char* file, int line);
};

// What else can be printed, the more particular first: text that has c_str(), a list as [1, 2], a Scalar by what it holds, an
// element type by its name, whatever converts to a number, and an enumerator by its number.
struct Rank0 {};
struct Rank1 : Rank0 {};
struct Rank2 : Rank1 {};
struct Rank3 : Rank2 {};
struct Rank4 : Rank3 {};

template <typename T>
auto put(CheckMessage& message, const T& text, Rank4) -> decltype(static_cast<const char*>(text.c_str()), void()) {
  message << text.c_str();
}
template <typename T>
auto put(CheckMessage& message, const T& list, Rank3) -> decltype(list.begin() != list.end(), void()) {
  const char* before = "[";
  for (const auto& item : list) {
    message << before << item;
    before = ", ";
  }
  message << (*before == '[' ? "[]" : "]");
}
template <typename T>
auto put(CheckMessage& message, const T& scalar, Rank3) -> decltype(scalar.isFloatingPoint(), void()) {
  if (scalar.isFloatingPoint()) message << scalar.toDouble();
  else message << scalar.toLong();
}
template <typename T>
auto put(CheckMessage& message, const T& type, Rank2) -> decltype(static_cast<const char*>(toString(type)), void()) {
  message << toString(type);
}
template <typename T>
auto put(CheckMessage& message, const T& type, Rank2) -> decltype(static_cast<const char*>(type.name()), void()) {
  message << type.name();
}
template <typename T>
auto put(CheckMessage& message, const T& value, Rank1) -> decltype(message.operator<<(+value), void()) {
  message.operator<<(+value);
}
template <typename T>
auto put(CheckMessage& message, const T& value, Rank0) -> decltype(static_cast<long long>(value), void()) {
  message << static_cast<long long>(value);
}

template <typename T>
auto operator<<(CheckMessage& message, const T& value) -> decltype(put(message, value, Rank4()), message) {
  put(message, value, Rank4());
  return message;
}

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

/// A message that ends nothing.
template <typename... Parts>
__attribute__((noinline, cold)) void warned(const char* file, int line, const Parts&... parts) {
  CheckMessage message;
  message << "Warning: ";
  append(message, parts...);
  message.warn(file, line);
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

/// The same while debugging; nothing with NDEBUG.
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) do {} while (false)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) TORCH_INTERNAL_ASSERT(condition, ##__VA_ARGS__)
#endif

// In PyTorch these differ in the exception that Python sees; here there is none.
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)

// Compares two numbers, and shows both when it fails.
#define C10_CHECK_OP_(a, b, op)                                                                                              \
  do {                                                                                                                      \
    const auto& c10_a_ = (a);                                                                                               \
    const auto& c10_b_ = (b);                                                                                               \
    if (__builtin_expect(!(c10_a_ op c10_b_), 0)) {                                                                          \
      ::c10::detail::check_failed(C10_FILE_NAME_, __LINE__, "Check failed: " #a " " #op " " #b " (", c10_a_, " vs. ", c10_b_, \
                                  ")");                                                                                     \
    }                                                                                                                       \
  } while (false)
#define TORCH_CHECK_EQ(a, b) C10_CHECK_OP_(a, b, ==)
#define TORCH_CHECK_NE(a, b) C10_CHECK_OP_(a, b, !=)
#define TORCH_CHECK_LT(a, b) C10_CHECK_OP_(a, b, <)
#define TORCH_CHECK_LE(a, b) C10_CHECK_OP_(a, b, <=)
#define TORCH_CHECK_GT(a, b) C10_CHECK_OP_(a, b, >)
#define TORCH_CHECK_GE(a, b) C10_CHECK_OP_(a, b, >=)
#define TORCH_CHECK_NOTNULL(pointer) TORCH_CHECK((pointer) != nullptr, "Check failed: '" #pointer "' must be non NULL")

/// Prints the message parts and goes on.
#define TORCH_WARN(...) ::c10::detail::warned(C10_FILE_NAME_, __LINE__, ##__VA_ARGS__)
/// The same, the first time only.
#define TORCH_WARN_ONCE(...)                 \
  do {                                       \
    static bool c10_is_warned_ = false;      \
    if (!c10_is_warned_) {                   \
      c10_is_warned_ = true;                 \
      TORCH_WARN(__VA_ARGS__);               \
    }                                        \
  } while (false)

/// An assertion of the reference runtime. `tail` is its exact `file:line expression` text, whatever our own file
/// and line are, so that logs stay searchable (spec customop-abi.md §11).
#define NEURON_REFERENCE_ASSERT(condition, tail) (__builtin_expect(!(condition), 0) ? ::_Assert(tail, 0) : (void)0)
