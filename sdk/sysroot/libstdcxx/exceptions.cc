// SPDX-License-Identifier: Apache-2.0
// The standard exception classes with one string ABI: libstdc++ defines these
// members only in the sources that build both.
#include <stdexcept>

namespace std {
logic_error::logic_error(const char *what) : exception(), _M_msg(what) {}
logic_error::logic_error(const logic_error &other) noexcept : exception(other), _M_msg(other._M_msg) {}
logic_error &logic_error::operator=(const logic_error &other) noexcept {
  _M_msg = other._M_msg;
  return *this;
}

runtime_error::runtime_error(const char *what) : exception(), _M_msg(what) {}
runtime_error::runtime_error(const runtime_error &other) noexcept : exception(other), _M_msg(other._M_msg) {}
runtime_error &runtime_error::operator=(const runtime_error &other) noexcept {
  _M_msg = other._M_msg;
  return *this;
}

domain_error::domain_error(const char *what) : logic_error(what) {}
invalid_argument::invalid_argument(const char *what) : logic_error(what) {}
length_error::length_error(const char *what) : logic_error(what) {}
out_of_range::out_of_range(const char *what) : logic_error(what) {}
range_error::range_error(const char *what) : runtime_error(what) {}
overflow_error::overflow_error(const char *what) : runtime_error(what) {}
underflow_error::underflow_error(const char *what) : runtime_error(what) {}
} // namespace std
