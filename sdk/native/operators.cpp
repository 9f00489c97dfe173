// SPDX-License-Identifier: Apache-2.0
//
// A native twin's ops as operators of PyTorch: NAME.torch.so, compiled against an installed libtorch together with the library's
// shape sources, for torch.ops.load_library. What the shape sources register is registered with PyTorch: schema, an implementation
// for the CPU that calls the twin beside this file, and one for tensors without elements, which asks the shape function alone.
//
// The twin is another file, because it has tensors of its own under the same names. Unaware of kernels.

#include <dlfcn.h>
#include <torch/library.h>
#include <torchneuron/register.h>

#include <memory>
#include <string>
#include <vector>

#include "abi.h"

namespace {

using torchneuron::Param;
using torchneuron::Registration;

/// The twin's function, from the file beside this one.
decltype(&gpsimd_native_call) twin() {
  static const auto found = [] {
    static const char here = 0;
    Dl_info info;
    TORCH_CHECK(dladdr(&here, &info) != 0 && info.dli_fname != nullptr, "the library does not know where it is");
    std::string path = info.dli_fname;
    const std::string own = ".torch.so";
    TORCH_CHECK(path.size() > own.size() && path.compare(path.size() - own.size(), own.size(), own) == 0, path,
                " is to be called NAME.torch.so, and NAME.native.so to lie beside it");
    path.replace(path.size() - own.size(), own.size(), ".native.so");
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    TORCH_CHECK(library != nullptr, dlerror());
    const auto version = reinterpret_cast<decltype(&gpsimd_native_version)>(dlsym(library, "gpsimd_native_version"));
    TORCH_CHECK(version != nullptr && version() == GPSIMD_NATIVE_VERSION, path, " is of another version: build the library again");
    return reinterpret_cast<decltype(&gpsimd_native_call)>(dlsym(library, "gpsimd_native_call"));
  }();
  return found;
}

const Registration& registration(const c10::OperatorHandle& op) {
  for (const Registration& one : torchneuron::registry()) {
    if (one.ns + "::" + one.op == op.operator_name().name) return one;
  }
  TORCH_CHECK(false, op.operator_name().name, " is not registered");
}

/// An output of the type and shape that the shape function says; it sees tensors without elements.
at::Tensor output(const Registration& one, const std::vector<c10::IValue>& values, c10::DeviceType device) {
  std::vector<torchneuron::Argument> arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    switch (one.params[i]) {
      case Param::Tensor: {
        const at::Tensor tensor = values[i].toTensor();
        arguments.emplace_back(at::empty(tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()).device(at::kMeta)));
        break;
      }
      default:
        arguments.emplace_back(values[i].toScalar());
    }
  }
  const at::Tensor shape = one.shape(arguments);
  return at::empty(shape.sizes(), at::TensorOptions().dtype(shape.scalar_type()).device(device));
}

/// A number as it travels to a kernel: a tensor of one element.
at::Tensor number(Param kind, const at::Scalar& value) {
  const bool is_whole = kind == Param::Int || (kind == Param::Scalar && value.isIntegral(true));
  return at::full({1}, value, at::TensorOptions().dtype(is_whole ? at::kLong : at::kFloat));
}

/// Takes the arguments of a call from the stack.
std::vector<c10::IValue> arguments(const Registration& one, torch::jit::Stack* stack) {
  const auto first = stack->end() - static_cast<std::ptrdiff_t>(one.params.size());
  std::vector<c10::IValue> values(first, stack->end());
  stack->erase(first, stack->end());
  return values;
}

void call(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Registration& one = registration(op);
  const std::vector<c10::IValue> values = arguments(one, stack);
  std::vector<at::Tensor> tensors{output(one, values, at::kCPU)};
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_tensor = one.params[i] == Param::Tensor;
    tensors.push_back(is_tensor ? values[i].toTensor().contiguous() : number(one.params[i], values[i].toScalar()));
  }
  std::vector<gpsimd_native_argument> plain;
  for (const at::Tensor& tensor : tensors) {
    plain.push_back({tensor.data_ptr(), tensor.sizes().data(), static_cast<uint32_t>(tensor.dim()),
                     static_cast<uint32_t>(tensor.scalar_type())});
  }
  char message[1024];
  const uint32_t count = static_cast<uint32_t>(plain.size());
  const int status = twin()(one.kernel.c_str(), plain.data(), count, GPSIMD_CORES, message, sizeof message);
  TORCH_CHECK(status == 0, one.ns, "::", one.op, " stopped on ", message);
  stack->push_back(tensors.front());
}

void describe(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Registration& one = registration(op);
  stack->push_back(output(one, arguments(one, stack), at::kMeta));
}

/// Everything that the shape sources have registered: their constructors run before this file's, which is linked last.
struct Operators {
  Operators() {
    for (const Registration& one : torchneuron::registry()) {
      libraries.push_back(
          std::make_unique<torch::Library>(torch::Library::FRAGMENT, one.ns, c10::nullopt, __FILE__, __LINE__));
      torch::Library& library = *libraries.back();
      const std::string schema = one.schema();
      library.def((schema.substr(0, schema.rfind(" -> ")) + " -> Tensor").c_str());
      library.impl(one.op.c_str(), torch::dispatch(c10::DispatchKey::CPU, torch::CppFunction::makeFromBoxedFunction<&call>()));
      library.impl(one.op.c_str(), torch::dispatch(c10::DispatchKey::Meta, torch::CppFunction::makeFromBoxedFunction<&describe>()));
      // as for the CPU there is no gradient; PyTorch 1 does not say so by itself here
      library.impl(one.op.c_str(), torch::dispatch(c10::DispatchKey::AutogradMeta, torch::CppFunction::makeFallthrough()));
    }
  }
  std::vector<std::unique_ptr<torch::Library>> libraries;
};
const Operators operators;

}  // namespace
