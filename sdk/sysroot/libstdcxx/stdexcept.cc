// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
namespace std {
  logic_error::logic_error(const char *s) : exception(), _M_msg(s) {}
  runtime_error::runtime_error(const char *s) : exception(), _M_msg(s) {}
  logic_error::logic_error(const logic_error &e) noexcept : exception(e), _M_msg(e._M_msg) {}
  runtime_error::runtime_error(const runtime_error &e) noexcept : exception(e), _M_msg(e._M_msg) {}
  logic_error &logic_error::operator=(const logic_error &e) noexcept { _M_msg = e._M_msg; return *this; }
  runtime_error &runtime_error::operator=(const runtime_error &e) noexcept { _M_msg = e._M_msg; return *this; }
#define D(n, b) n::n(const char *s) : b(s) {}
  D(domain_error, logic_error) D(invalid_argument, logic_error) D(length_error, logic_error) D(out_of_range, logic_error)
  D(range_error, runtime_error) D(overflow_error, runtime_error) D(underflow_error, runtime_error)
}
