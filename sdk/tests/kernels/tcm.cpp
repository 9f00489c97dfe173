// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §5.3 and §7: bulk copies with offsets, the TCM pool and its end.

#include <torch/torch.h>

#include <neuron/neuron-utils.hpp>

// The two halves of x exchanged, in blocks that do not divide it.
template <typename T>
static torch::Tensor swap_halves(const torch::Tensor& x) {
  torch::Tensor y = torch::empty_like(x);
  const size_t kBlock = 100;
  T* block = static_cast<T*>(torch::neuron::tcm_malloc(kBlock * sizeof(T)));
  assert(block != nullptr);
  auto in = x.tcm_accessor();
  auto out = y.tcm_accessor();
  const size_t total = static_cast<size_t>(x.numel());
  const size_t half = total / 2;
  for (size_t done = 0; done < total;) {
    const size_t limit = done < half ? half : total;
    const size_t n = limit - done < kBlock ? limit - done : kBlock;
    in.tensor_to_tcm<T>(block, done, n);
    out.tcm_to_tensor<T>(block, done < half ? done + (total - half) : done - half, n);
    done += n;
  }
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor t_tcm_swap(const torch::Tensor& x) {
  if (x.itemsize() == 1) return swap_halves<int8_t>(x);
  if (x.itemsize() == 2) return swap_halves<int16_t>(x);
  return swap_halves<float>(x);
}

// [four blocks of 4 KiB fit, the next byte does not, after a free it does, 64-byte alignment, freeing null is harmless]
torch::Tensor t_tcm_pool(const torch::Tensor&) {
  void* blocks[4];
  int fitted = 0, aligned = 1;
  for (int i = 0; i < 4; ++i) {
    blocks[i] = torch::neuron::tcm_malloc(4096);
    fitted += blocks[i] != nullptr;
    aligned &= reinterpret_cast<uintptr_t>(blocks[i]) % 64 == 0;
  }
  const int full = torch::neuron::tcm_malloc(1) == nullptr;
  torch::neuron::tcm_free(blocks[2]);
  blocks[2] = torch::neuron::tcm_malloc(100);
  const int again = blocks[2] != nullptr;
  for (int i = 0; i < 4; ++i) torch::neuron::tcm_free(blocks[i]);
  torch::neuron::tcm_free(nullptr);

  torch::Tensor r = torch::empty({5}, torch::kInt);
  auto out = r.accessor<int32_t, 1>();
  out[0] = fitted;
  out[1] = full;
  out[2] = again;
  out[3] = aligned;
  out[4] = 1;
  return r;
}

// Operators work while a kernel holds all of TCM, more slowly. x + x.
torch::Tensor t_tcm_exhausted(const torch::Tensor& x) {
  void* all = torch::neuron::tcm_malloc(16384);
  assert(all != nullptr);
  torch::Tensor r = torch::add(x, x);
  torch::neuron::tcm_free(all);
  return r;
}
