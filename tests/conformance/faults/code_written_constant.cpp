// SPDX-License-Identifier: Apache-2.0
//
// A table of constants that is written through a pointer without its const.

#include <torch/torch.h>

static const int factors[4] = {2, 2, 2, 2};
static int writable[4] = {2, 2, 2, 2};

static torch::Tensor scale(const torch::Tensor& x, const int* table) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  volatile int* first = const_cast<int*>(table);
  first[0] = 2;  // FAULT
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] * first[i % 4];
  return y;
}

torch::Tensor faulty(const torch::Tensor& x) { return scale(x, factors); }
torch::Tensor corrected(const torch::Tensor& x) { return scale(x, writable); }
