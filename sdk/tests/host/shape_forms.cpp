// SPDX-License-Identifier: Apache-2.0
//
// A shape source that uses every documented spelling, and a program around it that checks the answers. Exit code 0: all right.

#include <torch/torch.h>
#include "torchneuron/register.h"

#include <cstdio>
#include <cstdlib>
#include <limits>

torch::Tensor by_value(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.sizes() == b.sizes(), "by_value: shapes ", a.sizes(), " and ", b.sizes());
    return torch::zeros(a.sizes(), torch::kFloat);
}
torch::Tensor by_reference(const torch::Tensor& a, const torch::Scalar& s) { return torch::full(a.sizes(), s, a.dtype()); }
torch::Tensor numbers(torch::Tensor a, int64_t n, double d, int i, float f, torch::Scalar s) {
    size_t num_elem = static_cast<size_t>(a.numel());
    (void)d, (void)f, (void)s;
    return torch::empty({num_elem, static_cast<size_t>(n), 1, i}, torch::kBFloat16);
}
at::Tensor flat(at::Tensor a) {
    size_t num_elem = a.numel();
    return at::zeros({num_elem}, at::kInt);
}

NEURON_LIBRARY(forms, m) {
    m.def("by_value", &by_value, "by_value_kernel");
    m.def("by_reference", by_reference, "by_reference_kernel");
}
NEURON_LIBRARY(forms, m) {
    m.def("numbers", &numbers, "numbers_kernel");
    m.def("flat", &flat, "flat_kernel");
}

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("line %d: %s does not hold\n", __LINE__, #condition);   \
      std::exit(1);                                                       \
    }                                                                     \
  } while (false)

template <typename F>
static std::string message_of(F f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

int main() {
  auto& all = torchneuron::registry();
  CHECK(all.size() == 4);
  CHECK(all[0].schema() == "forms::by_value(Tensor _0, Tensor _1) -> (Tensor _0)");
  CHECK(all[1].schema() == "forms::by_reference(Tensor _0, Scalar _1) -> (Tensor _0)");
  CHECK(all[2].schema() == "forms::numbers(Tensor _0, int _1, float _2, int _3, float _4, Scalar _5) -> (Tensor _0)");
  CHECK(all[3].kernel == "flat_kernel");

  const torch::Tensor x({2, 3}, torch::kHalf);
  CHECK(all[1].shape({x, torch::Scalar(1)}).dtype() == torch::kHalf);
  const torch::Tensor n = all[2].shape({x, torch::Scalar(5), torch::Scalar(0.5), torch::Scalar(7), torch::Scalar(1), torch::Scalar(2)});
  CHECK(n.sizes() == torch::IntArrayRef({6, 5, 1, 7}) && n.scalar_type() == torch::kBFloat16);
  CHECK(all[3].shape({x}).size(-1) == 6);
  CHECK(message_of([&] { all[0].shape({x, torch::Tensor({3, 2}, torch::kHalf)}); }) ==
        "by_value: shapes [2, 3] and [3, 2]");
  CHECK(message_of([&] { all[2].shape({x, torch::Scalar(5), torch::Scalar(1), torch::Scalar(1LL << 40), torch::Scalar(1), torch::Scalar(1)}); }) ==
        "value cannot be converted to type int without overflow");

  // Operators give shapes under the device's rules.
  torch::Tensor r = torch::empty_like(x);
  CHECK(torch::add(x, x).sizes() == x.sizes() && torch::sub(x, 1, 2).dtype() == torch::kHalf);
  CHECK(&torch::clamp_out(r, x, 0, 1) == &r && torch::pow(2, x).dim() == 2 && torch::eye(2, 5, torch::kInt).size(1) == 5);
  CHECK(torch::bitwise_not(r, x).sizes() == torch::exp(x).sizes() && torch::mul(x, 2.5).numel() == 6);
  CHECK(message_of([&] { torch::div(x, torch::ones({2, 3}, torch::kFloat)); }) ==
        "div: element types Half and Float differ; operators do not promote");
  CHECK(message_of([&] { torch::add(x, torch::ones({3}, torch::kHalf)); }) ==
        "add: shapes [2, 3] and [3] differ; operators do not broadcast");
  CHECK(message_of([&] { torch::zeros({2}, torch::TensorOptions()); }) ==
        "TensorOptions: a dtype must be given, for example torch::kFloat");
  CHECK(message_of([&] { torch::Tensor({2, -1}, torch::kInt); }) == "negative extent in shape [2, -1]");
  CHECK(message_of([&] { torch::Tensor().dim(); }) == "this tensor is undefined");
  CHECK(message_of([&] { x.size(2); }) == "dimension 2 of a tensor of rank 2");
  CHECK(message_of([&] { torch::Tensor({1LL << 40, 1LL << 40}, torch::kInt).numel(); }).find("too many elements") != std::string::npos);

  CHECK(std::numeric_limits<c10::Half>::max() == 65504.0f);
  return 0;
}
