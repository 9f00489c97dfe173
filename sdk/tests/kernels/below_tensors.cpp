// SPDX-License-Identifier: Apache-2.0
//
// Conformance: neuron/custom_op.h (customop-abi.md §2.4): the three copy methods, translation, and the heaps below tensors.

#include <torch/torch.h>

#include <neuron/custom_op.h>

#include <string.h>

// x copied with one method, in runs of every length from 1 to 130 whose local end is at every alignment.
static torch::Tensor copy(const torch::Tensor& x, NeuronMemcpyMethod method) {
  torch::Tensor y = torch::empty_like(x);
  unsigned long long from = x.q7_data_ptr().hbm_addr, to = y.q7_data_ptr().hbm_addr;
  char* block = static_cast<char*>(torch::neuron::tcm_malloc(256));
  assert(block != nullptr && neuron_set_memcpy_method(method) == 0);
  size_t left = x.nbytes();
  for (size_t run = 1; left != 0; run = run % 130 + 1) {
    const size_t n = run < left ? run : left;
    assert(neuron_memcpy(block + run % 5, from, n) == 0);
    assert(neuron_memcpy(to, block + run % 5, n) == 0);
    from += n;
    to += n;
    left -= n;
  }
  neuron_set_memcpy_method(DEFAULT_METHOD);
  torch::neuron::tcm_free(block);
  return y;
}

torch::Tensor t_copy_c(const torch::Tensor& x) { return copy(x, C_MEMCPY); }
torch::Tensor t_copy_vec(const torch::Tensor& x) { return copy(x, VEC_MEMCPY); }
torch::Tensor t_copy_dma(const torch::Tensor& x) { return copy(x, DMA); }

// x in copies of 8191 bytes: windows show 16 MiB each, and one of the copies ends in another than it starts in.
torch::Tensor t_across_windows(const torch::Tensor& x, int method) {
  torch::Tensor y = torch::empty_like(x);
  unsigned long long from = x.q7_data_ptr().hbm_addr, to = y.q7_data_ptr().hbm_addr;
  void* block = torch::neuron::tcm_malloc(8191);
  neuron_set_memcpy_method(static_cast<NeuronMemcpyMethod>(method));
  for (size_t left = x.nbytes(); left != 0;) {
    const size_t n = left < 8191 ? left : 8191;
    neuron_memcpy(block, from, n);
    neuron_memcpy(to, block, n);
    from += n;
    to += n;
    left -= n;
  }
  neuron_set_memcpy_method(DEFAULT_METHOD);
  torch::neuron::tcm_free(block);
  return y;
}

// To a static buffer, which the DMA engine does not see, and from one on the stack.
torch::Tensor t_local_buffers(const torch::Tensor& x) {
  static char fixed[1000];
  char automatic[1000];
  torch::Tensor y = torch::empty_like(x);
  for (size_t done = 0; done < x.nbytes(); done += sizeof(fixed)) {
    const size_t left = x.nbytes() - done, n = left < sizeof(fixed) ? left : sizeof(fixed);
    neuron_memcpy(fixed, x.q7_data_ptr().hbm_addr + done, n);
    memcpy(automatic, fixed, n);
    neuron_memcpy(y.q7_data_ptr().hbm_addr + done, automatic, n);
  }
  return y;
}

static torch::Tensor numbers(std::initializer_list<int> list) {
  torch::Tensor r = torch::empty({static_cast<int64_t>(list.size())}, torch::kInt);
  auto out = r.accessor<int32_t, 1>();
  int64_t i = 0;
  for (int n : list) out[i++] = n;
  return r;
}

// [no method -1, a method 0, the window covers x 1, it shows 16 MiB 1, nothing covers the other end of memory -1]
torch::Tensor t_translation(const torch::Tensor& x) {
  void* const ctx = neuron_translate_ctx();
  const unsigned long long addr = x.q7_data_ptr().hbm_addr;
  const int none = neuron_set_memcpy_method(MAX_METHODS), one = neuron_set_memcpy_method(DEFAULT_METHOD);
  volatile float* const local = static_cast<volatile float*>(neuron_translate(ctx, addr));
  const float value = *local;
  unsigned long long first = 0, last = 0, untouched = 7;
  const int found = neuron_translate_mapping_lookup(ctx, addr, &first, &last);
  const int far = neuron_translate_mapping_lookup(ctx, 0x7fff00000000ull, &untouched, &untouched);
  const auto in = x.accessor<float, 1>();
  const float same = in[0];
  return numbers({none, one, found == 0 && first <= addr && addr <= last && value == same, last - first == 0xffffff, far});
}

// [allocated 0, 4096-byte alignment 1, size 1, bytes come back 1, freed 0, freed twice 1, size of nothing -1, too large -1]
torch::Tensor t_hbm_heap(const torch::Tensor&) {
  unsigned long long block = 0, other = 5;
  size_t size = 0;
  const int got = neuron_hbm_allocate(100000, &block, 4096), aligned = block % 4096 == 0;
  const int known = neuron_hbm_get_alloc_size(block, &size) == 0 && size >= 100000;
  char there[64], back[64];
  memset(there, 0x5a, sizeof(there));
  memset(back, 0, sizeof(back));
  neuron_memcpy(block + 99000, there, sizeof(there));
  neuron_memcpy(back, block + 99000, sizeof(back));
  const int same = memcmp(there, back, sizeof(there)) == 0;
  const int freed = neuron_hbm_deallocate(block), again = neuron_hbm_deallocate(block) != 0;
  const int gone = neuron_hbm_get_alloc_size(block, &size);
  const int large = neuron_hbm_allocate(1u << 30, &other);
  return numbers({got, aligned, known, same, freed, again, gone, other == 5 ? large : 0});
}

// [all free, allocated 0, aligned 1, what is left, full -1 and null 1, freed 0, freed twice 1, all free again, bad alignment -1]
torch::Tensor t_dataram_heap(const torch::Tensor&) {
  size_t all = 0, left = 0, again = 0;
  void *block = nullptr, *other = &all;
  neuron_dataram_max_free_space(&all);
  const int got = neuron_dataram_allocate(4096, &block, 256), aligned = reinterpret_cast<uintptr_t>(block) % 256 == 0;
  neuron_dataram_max_free_space(&left);
  const int full = neuron_dataram_allocate(left + 1, &other);
  const int freed = neuron_dataram_deallocate(block), twice = neuron_dataram_deallocate(block) != 0;
  neuron_dataram_max_free_space(&again);
  return numbers({static_cast<int>(all), got, aligned, static_cast<int>(left), full, other == nullptr, freed, twice,
                  static_cast<int>(again), neuron_dataram_max_free_space(&left, 3)});
}
