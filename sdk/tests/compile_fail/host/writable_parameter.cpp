// SPDX-License-Identifier: Apache-2.0
// expect: a shape function takes its parameters by value or by const reference
#include "torchneuron/register.h"
torch::Tensor change(torch::Tensor& x) { return x; }
NEURON_LIBRARY(bad, m) { m.def("change", &change, "change"); }
