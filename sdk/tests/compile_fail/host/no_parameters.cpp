// SPDX-License-Identifier: Apache-2.0
// expect: an operator has at least one parameter
#include "torchneuron/register.h"
torch::Tensor none() { return torch::zeros({1}, torch::kFloat); }
NEURON_LIBRARY(bad, m) { m.def("none", &none, "none"); }
