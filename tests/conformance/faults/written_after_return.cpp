// SPDX-License-Identifier: Apache-2.0
//
// A pointer to a local variable of a function that has returned is written through.

#include <torch/torch.h>

static int kept[8];

__attribute__((noinline)) static int* place(bool mine) {
  int local[8] = {};
  int* p = mine ? local : kept;
  asm("" : "+r"(p) : : "memory");
  return p;
}

__attribute__((noinline)) static void mark(int* p) {
  p[3] = 1;  // FAULT
}

static torch::Tensor marked(const torch::Tensor& x, bool mine) {
  mark(place(mine));
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return marked(x, true); }
torch::Tensor corrected(const torch::Tensor& x) { return marked(x, false); }
