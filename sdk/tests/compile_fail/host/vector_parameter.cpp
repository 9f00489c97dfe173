// SPDX-License-Identifier: Apache-2.0
// expect: a kernel parameter is a torch::Tensor, a torch::Scalar, a float (double here) or an int (int64_t here)
#include "torchneuron/register.h"
torch::Tensor many(std::vector<torch::Tensor> x) { return x[0]; }
NEURON_LIBRARY(bad, m) { m.def("many", &many, "many"); }
