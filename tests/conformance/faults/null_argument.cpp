// SPDX-License-Identifier: Apache-2.0
//
// A null pointer passed where the declaration forbids it.

#include <torch/torch.h>

static volatile int seen;

// the compiler takes the declaration at its word
#pragma GCC diagnostic ignored "-Wnonnull-compare"
__attribute__((noinline, nonnull(1))) static void look(const int* at) { seen = at != nullptr; }

static torch::Tensor looked(const torch::Tensor& x, const int* at) {
  look(at);  // FAULT
  return torch::mul(x, 2);
}

static int one;
static int* volatile none;

torch::Tensor faulty(const torch::Tensor& x) { return looked(x, none); }
torch::Tensor corrected(const torch::Tensor& x) { return looked(x, &one); }
