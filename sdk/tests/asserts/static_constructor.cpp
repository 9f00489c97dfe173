// SPDX-License-Identifier: Apache-2.0
//
// A static constructor runs at boot, before any launch has made the heaps: allocating there must stop with the text in
// ../asserts.json.

#include <torch/torch.h>

static void* const early = torch::neuron::tcm_malloc(16);

torch::Tensor a_early(const torch::Tensor& x) { return early ? x : torch::zeros(x.sizes(), torch::kFloat); }
