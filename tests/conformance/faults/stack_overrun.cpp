// SPDX-License-Identifier: Apache-2.0
//
// A string without an end, on the stack.

#include <torch/torch.h>

static volatile size_t length;

static torch::Tensor labelled(const torch::Tensor& x, size_t room) {
  char text[8];
  char* to = text;
  asm("" : "+r"(to));
  for (size_t i = 0; i < room; ++i)
    to[i] = 'a';  // FAULT
  length = room;
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return labelled(x, 9); }
torch::Tensor corrected(const torch::Tensor& x) { return labelled(x, 8); }
