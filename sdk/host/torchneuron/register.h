// SPDX-License-Identifier: Apache-2.0
//
// NEURON_LIBRARY: which operators a library has, which shape function gives their output's shape, and which kernel computes them.
// The schema is read off the shape function's C++ signature. Facts: spec user-api.md §1, §9, §10, codegen.md §3.
// Unaware of who asks: list_registrations.cpp, or PyTorch itself, whose headers do as well as this directory's (sdk/native/operators.cpp).
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace torchneuron {

/// Kinds of kernel parameters.
enum class Param { Tensor, Scalar, Int, Float };

/// The kind's name in a schema.
inline const char* schema_name(Param kind) {
  switch (kind) {
    case Param::Tensor:
      return "Tensor";
    case Param::Scalar:
      return "Scalar";
    case Param::Int:
      return "int";
    case Param::Float:
      return "float";
  }
  return "";
}

/// One argument of a shape function: a tensor, or a number.
struct Argument {
  Argument(at::Tensor t) : is_tensor(true), tensor(std::move(t)) {}
  Argument(at::Scalar s) : is_tensor(false), scalar(s) {}

  bool is_tensor;
  at::Tensor tensor;
  at::Scalar scalar;
};

/// One `m.def(...)`.
struct Registration {
  std::string ns;
  std::string op;
  std::string kernel;
  std::vector<Param> params;
  /// Calls the shape function; the caller has checked number and kind of the arguments.
  std::function<at::Tensor(const std::vector<Argument>&)> shape;

  /// `ns::op(Tensor _0, int _1) -> (Tensor _0)`: PyTorch's own names for what a C++ signature does not name.
  std::string schema() const {
    std::string text = ns + "::" + op + "(";
    for (size_t i = 0; i < params.size(); ++i)
      text += std::string(i ? ", " : "") + schema_name(params[i]) + " _" + std::to_string(i);
    return text + ") -> (Tensor _0)";
  }
};

/// Everything registered in this program, in the order of registration.
inline std::vector<Registration>& registry() {
  static std::vector<Registration> all;
  return all;
}

namespace detail {

template <typename>
constexpr bool never = false;

template <typename T>
struct ParamOf {
  static_assert(never<T>,
                "a kernel parameter is a torch::Tensor, a torch::Scalar, a float (double here) or an int (int64_t here)");
};
template <>
struct ParamOf<at::Tensor> {
  static constexpr Param kind = Param::Tensor;
  static const at::Tensor& from(const Argument& a) { return a.tensor; }
};
template <>
struct ParamOf<at::Scalar> {
  static constexpr Param kind = Param::Scalar;
  static const at::Scalar& from(const Argument& a) { return a.scalar; }
};
template <typename T>
struct IntParam {
  static constexpr Param kind = Param::Int;
  static T from(const Argument& a) { return a.scalar.to<T>(); }
};
template <>
struct ParamOf<int> : IntParam<int> {};
template <>
struct ParamOf<long> : IntParam<long> {};
template <>
struct ParamOf<long long> : IntParam<long long> {};
template <typename T>
struct FloatParam {
  static constexpr Param kind = Param::Float;
  static T from(const Argument& a) { return a.scalar.to<T>(); }
};
template <>
struct ParamOf<float> : FloatParam<float> {};
template <>
struct ParamOf<double> : FloatParam<double> {};

template <typename T>
struct Parameter : ParamOf<std::remove_cv_t<std::remove_reference_t<T>>> {
  static_assert(!std::is_lvalue_reference_v<T> || std::is_const_v<std::remove_reference_t<T>>,
                "a shape function takes its parameters by value or by const reference");
  static_assert(!std::is_rvalue_reference_v<T>, "a shape function takes its parameters by value or by const reference");
};

template <typename Result, typename... Params, size_t... I>
std::function<at::Tensor(const std::vector<Argument>&)> bind(Result (*fn)(Params...), std::index_sequence<I...>) {
  return [fn](const std::vector<Argument>& arguments) {
    (void)arguments;
    return fn(Parameter<Params>::from(arguments.at(I))...);
  };
}

}  // namespace detail

/// What `m` is in `NEURON_LIBRARY(ns, m)`.
class Library {
 public:
  explicit Library(const char* ns) : ns_(ns) {}

  /// Operator `op`, whose output has the shape that `shape_fn` returns and whose kernel is the C++ function named `kernel`.
  template <typename Result, typename... Params>
  void def(const char* op, Result (*shape_fn)(Params...), const char* kernel) {
    static_assert(std::is_same_v<Result, at::Tensor>, "a shape function returns exactly one torch::Tensor");
    static_assert(sizeof...(Params) > 0, "an operator has at least one parameter");
    static_assert(sizeof...(Params) <= 9, "an operator has at most 9 parameters: with its output 10 descriptors travel");
    registry().push_back(Registration{ns_, op, kernel, {detail::Parameter<Params>::kind...},
                                      detail::bind(shape_fn, std::index_sequence_for<Params...>())});
  }

 private:
  std::string ns_;
};

/// Runs the body of a NEURON_LIBRARY before main.
struct Registrar {
  Registrar(const char* ns, void (*body)(Library&)) {
    Library library(ns);
    body(library);
  }
};

}  // namespace torchneuron

#define TORCHNEURON_JOIN_(a, b) a##b
#define TORCHNEURON_NAME_(stem, line) TORCHNEURON_JOIN_(stem, line)

/// Registers operators in namespace `ns`; followed by a body that calls `m.def(name, &shape_fn, "kernel")` for each.
#define NEURON_LIBRARY(ns, m)                                                                            \
  static void TORCHNEURON_NAME_(neuron_library_##ns##_, __LINE__)(::torchneuron::Library & m);           \
  static const ::torchneuron::Registrar TORCHNEURON_NAME_(neuron_registrar_##ns##_, __LINE__)(           \
      #ns, &TORCHNEURON_NAME_(neuron_library_##ns##_, __LINE__));                                        \
  static void TORCHNEURON_NAME_(neuron_library_##ns##_, __LINE__)([[maybe_unused]] ::torchneuron::Library & m)
