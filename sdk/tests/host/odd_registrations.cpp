// SPDX-License-Identifier: Apache-2.0
//
// Registrations that no build can use. `list` must refuse them, name every fault, and keep its output valid.

#include "torchneuron/register.h"

torch::Tensor like(torch::Tensor x) { return x; }
torch::Tensor undefined(torch::Tensor) { return torch::Tensor(); }
torch::Tensor throws(torch::Tensor) { throw 7; }

NEURON_LIBRARY(odd, m) {
    m.def("quote\"back\\slash\nnew\x01\xff", &like, "kernel\twith tab");
    m.def("long_kernel", &like, "a_kernel_name_of_thirty_two_char");
    m.def("twice", &like, "same");
    m.def("twice", &like, "same");
    m.def("undefined", &undefined, "undefined");
    m.def("throws", &throws, "throws");
}
