// SPDX-License-Identifier: Apache-2.0
//
// A pointer to data that points to a function.

#include <torch/torch.h>

static float twice(float v) { return v + v; }
static float scratch[1];
static void* volatile places[2] = {reinterpret_cast<void*>(twice), scratch};

static torch::Tensor store(const torch::Tensor& x, int which) {
  volatile unsigned char* place = static_cast<unsigned char*>(places[which]);
  place = reinterpret_cast<unsigned char*>(reinterpret_cast<uintptr_t>(place) & ~3u);
  *reinterpret_cast<volatile unsigned int*>(const_cast<unsigned char*>(place)) = 0;  // FAULT
  return torch::mul(x, 2);
}

torch::Tensor faulty(const torch::Tensor& x) { return store(x, 0); }
torch::Tensor corrected(const torch::Tensor& x) { return store(x, 1); }
