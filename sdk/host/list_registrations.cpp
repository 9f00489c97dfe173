// SPDX-License-Identifier: Apache-2.0
//
// Asks the shape sources it is linked with what they register, and what a shape function answers. Runs on the simulated core
// (start.cpp), and on any machine with a C library.
//
//   list                        every registration as JSON on standard output
//   eval OP ARGUMENT...         the output of OP (`ns::op`, or `op` where only one namespace has it)
//
// An argument is `DTYPE:EXTENTxEXTENT…` for a tensor (`float32:2x3`) and a number for the rest. Exit codes: 0 done, 1 a registration or
// the shape function is wrong (the reason is on standard error), 2 the command line is wrong.
// Limits checked: spec user-api.md §10. Unaware of kernels and compilers.

#include "torchneuron/register.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace {

using torchneuron::Argument;
using torchneuron::Param;
using torchneuron::Registration;

/// The command line is wrong.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct DtypeName {
  const char* name;
  at::ScalarType type;
};
const DtypeName kDtypes[] = {
    {"float32", at::ScalarType::Float}, {"float16", at::ScalarType::Half}, {"bfloat16", at::ScalarType::BFloat16},
    {"int32", at::ScalarType::Int},     {"int16", at::ScalarType::Short},  {"int8", at::ScalarType::Char},
    {"uint8", at::ScalarType::Byte},    {"int64", at::ScalarType::Long},
};

/// Writes all of `text` to a file descriptor; false if that cannot be done.
bool write_all(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const auto written = write(fd, text.data() + at, text.size() - at);
    if (written <= 0) return false;
    at += static_cast<size_t>(written);
  }
  return true;
}

const char* dtype_name(at::ScalarType type) {
  for (const DtypeName& d : kDtypes)
    if (d.type == type) return d.name;
  throw c10::Error(std::string("no tensor can have elements of type ") + c10::toString(type));
}

/// `text` as a JSON string. Bytes that are no UTF-8 become U+FFFD, so that the document stays valid.
std::string json_string(const std::string& text) {
  static const char* const kHex = "0123456789abcdef";
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
      ++i;
    } else if (c < 0x20 || c == 0x7f) {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
      ++i;
    } else if (c < 0x80) {
      out += static_cast<char>(c);
      ++i;
    } else {
      const size_t length = c >= 0xc2 && c <= 0xdf ? 2 : c >= 0xe0 && c <= 0xef ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
      bool valid = length != 0 && i + length <= text.size();
      for (size_t k = 1; valid && k < length; ++k) valid = (text[i + k] & 0xc0) == 0x80;
      if (valid) {
        // Overlong forms, surrogates and what lies beyond U+10FFFF start with these second bytes.
        const unsigned char next = static_cast<unsigned char>(text[i + 1]);
        valid = !(c == 0xe0 && next < 0xa0) && !(c == 0xed && next > 0x9f) && !(c == 0xf0 && next < 0x90) &&
                !(c == 0xf4 && next > 0x8f);
      }
      out += valid ? text.substr(i, length) : std::string("\\ufffd");
      i += valid ? length : 1;
    }
  }
  return out + "\"";
}

bool is_identifier(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (char c : name)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
  return true;
}

/// Refuses what could not be built or called; every fault is named, not the first only.
void check_registrations() {
  const std::vector<Registration>& all = torchneuron::registry();
  std::string faults;
  std::set<std::string> ops, kernels;
  for (const Registration& r : all) {
    // Names are quoted: anything can stand in a string literal.
    const std::string name = json_string(r.ns + "::" + r.op);
    const std::string kernel = json_string(r.kernel);
    if (!is_identifier(r.op)) faults += "operator name " + name + " is no identifier\n";
    if (!is_identifier(r.kernel)) faults += name + ": kernel name " + kernel + " is no unqualified C++ function name\n";
    if (r.kernel.size() > 31)
      faults += name + ": kernel name " + kernel + " has " + std::to_string(r.kernel.size()) +
                " characters, 31 are allowed\n";
    if (!ops.insert(name).second) faults += name + " is registered twice\n";
    if (!kernels.insert(r.kernel).second) faults += name + ": kernel " + kernel + " belongs to another operator too\n";
  }
  if (all.size() > 10)
    faults += std::to_string(all.size()) + " operators are registered, a library has at most 10\n";
  if (all.empty()) faults += "nothing is registered: a shape source has a NEURON_LIBRARY(ns, m) { m.def(...); }\n";
  if (!faults.empty()) throw c10::Error(faults.substr(0, faults.size() - 1));
}

std::string list() {
  check_registrations();
  std::string out = "{\"format\":1,\"registrations\":[";
  const char* separator = "\n";
  for (const Registration& r : torchneuron::registry()) {
    out += separator;
    out += "{\"namespace\":" + json_string(r.ns) + ",\"op\":" + json_string(r.op) +
           ",\"kernel\":" + json_string(r.kernel) + ",\"schema\":" + json_string(r.schema()) + ",\"params\":[";
    for (size_t i = 0; i < r.params.size(); ++i)
      out += std::string(i ? "," : "") + "\"" + torchneuron::schema_name(r.params[i]) + "\"";
    out += "]}";
    separator = ",\n";
  }
  return out + "\n]}\n";
}

const Registration& find(const std::string& op) {
  const Registration* found = nullptr;
  for (const Registration& r : torchneuron::registry()) {
    if (op != r.ns + "::" + r.op && op != r.op) continue;
    if (found) throw UsageError("more than one namespace has an operator " + op + "; write ns::" + op);
    found = &r;
  }
  if (found) return *found;
  std::string known;
  for (const Registration& r : torchneuron::registry()) known += " " + r.ns + "::" + r.op;
  throw UsageError("no operator " + op + "; registered:" + known);
}

/// The operator boundary carries 8 extents of 16 bits or 4 of 32 bits (spec customop-abi.md §5.2), none of them zero.
void check_boundary(const std::string& what, c10::IntArrayRef sizes) {
  TORCH_CHECK(!sizes.empty(), "", what, " has rank 0; a tensor at the operator boundary has 1 to 8 dimensions");
  int64_t largest = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    TORCH_CHECK(sizes[d] > 0, "", what, " has extent ", sizes[d], " in dimension ", d,
                "; an extent at the operator boundary is at least 1");
    if (sizes[d] > largest) largest = sizes[d];
  }
  TORCH_CHECK(sizes.size() <= 8, "", what, " has ", sizes.size(), " dimensions, 8 are allowed");
  TORCH_CHECK(largest <= 4294967295, "", what, " has an extent of ", largest, ", 4294967295 is allowed");
  TORCH_CHECK(largest <= 65535 || sizes.size() <= 4, "", what, " has ", sizes.size(), " dimensions and an extent of ",
              largest, "; more than 4 dimensions allow 65535");
}

at::Tensor parse_tensor(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (colon == std::string::npos) throw UsageError("a tensor is written DTYPE:EXTENTxEXTENT, not " + text);
  const DtypeName* dtype = nullptr;
  std::string known;
  for (const DtypeName& d : kDtypes) {
    if (name == d.name) dtype = &d;
    known += std::string(" ") + d.name;
  }
  if (!dtype) throw UsageError("no dtype " + name + " in " + text + "; known:" + known);

  std::vector<int64_t> sizes;
  for (size_t at = colon + 1; at < text.size();) {
    const size_t end = std::min(text.find('x', at), text.size());
    const std::string digits = text.substr(at, end - at);
    if (digits.empty() || digits.size() > 10 || digits.find_first_not_of("0123456789") != std::string::npos ||
        end + 1 == text.size())
      throw UsageError("extents of " + text + " are numbers with x between them, up to 4294967295 each");
    sizes.push_back(std::stoll(digits));
    if (sizes.size() > 8) throw UsageError("" + text + " has more than 8 dimensions");
    at = end + 1;
  }
  return at::Tensor(sizes, dtype->type);
}

at::Scalar parse_number(const std::string& text, Param kind) {
  char* end = nullptr;
  errno = 0;
  const long long integer = std::strtoll(text.c_str(), &end, 10);
  const bool is_integer = !text.empty() && *end == 0 && errno == 0;
  if (is_integer && kind != Param::Float) return at::Scalar(integer);
  if (kind == Param::Int) throw UsageError("an int is expected, not " + text);
  const double real = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0) throw UsageError("a number is expected, not " + text);
  return at::Scalar(real);
}

std::string eval(const std::string& op, const std::vector<std::string>& texts) {
  const Registration& r = find(op);
  const std::string schema = r.schema();
  if (texts.size() != r.params.size())
    throw UsageError(schema + " takes " + std::to_string(r.params.size()) + " arguments, " +
                     std::to_string(texts.size()) + " were given");
  std::vector<Argument> arguments;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (r.params[i] == Param::Tensor) {
      arguments.push_back(parse_tensor(texts[i]));
      check_boundary("argument " + std::to_string(i) + " of " + r.op, arguments.back().tensor.sizes());
    } else {
      arguments.push_back(parse_number(texts[i], r.params[i]));
    }
  }
  const at::Tensor output = r.shape(arguments);
  TORCH_CHECK(output.defined(), "the shape function of ", r.op, " returned an undefined tensor");
  check_boundary("the output of " + r.op, output.sizes());

  std::string shape;
  for (int64_t extent : output.sizes()) shape += (shape.empty() ? "" : ",") + std::to_string(extent);
  return "{\"format\":1,\"op\":" + json_string(r.ns + "::" + r.op) + ",\"kernel\":" + json_string(r.kernel) +
         ",\"output\":{\"dtype\":\"" + dtype_name(output.scalar_type()) + "\",\"shape\":[" + shape + "]}}\n";
}

std::string answer(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "list") return list();
  if (words.size() >= 2 && words[0] == "eval")
    return eval(words[1], std::vector<std::string>(words.begin() + 2, words.end()));
  throw UsageError("usage: list | eval OP ARGUMENT...");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    // What a shape function printed comes first, so that the last line is the answer.
    const std::string text = answer(std::vector<std::string>(argv + 1, argv + argc));
    fflush(stdout);
    TORCH_CHECK(write_all(STDOUT_FILENO, text), "standard output cannot be written");
    return 0;
  } catch (const UsageError& error) {
    write_all(STDERR_FILENO, error.what() + std::string("\n"));
    return 2;
  } catch (const std::exception& error) {
    write_all(STDERR_FILENO, error.what() + std::string("\n"));
  } catch (...) {
    write_all(STDERR_FILENO, "the shape function threw something that is no std::exception\n");
  }
  return 1;
}
