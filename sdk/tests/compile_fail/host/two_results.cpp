// SPDX-License-Identifier: Apache-2.0
// expect: a shape function returns exactly one torch::Tensor
#include "torchneuron/register.h"
#include <tuple>
std::tuple<torch::Tensor, torch::Tensor> two(torch::Tensor x) { return {x, x}; }
NEURON_LIBRARY(bad, m) { m.def("two", &two, "two"); }
