// SPDX-License-Identifier: Apache-2.0
//
// 5. relu_multicore: max(x, 0) once more, with all that gpsimd::map does written by hand. Works for every element count:
// with fewer elements than cores some cores have nothing to do.
//
// Rules on several cores: only TCM accessors, the result goes through get_dst_tensor(), and no two cores write the same
// element, because nothing synchronises them.
//
// Schema: my::relu_multicore(Tensor x) -> (Tensor y)
// Build:  gpsimd-build compile examples/relu_multicore.cpp --multicore --schema 'my::relu_multicore(Tensor x) -> (Tensor y)'
//
// The trap: get_cpu_count() is 8 in a single-core build too, where core 0 runs alone and would compute only the first
// eighth. Kernels for one core are compiled with -DGPSIMD_SINGLE_CORE to know it; the kit looks at that, too.

#include <torch/torch.h>

#include <neuron/neuron-utils.hpp>

#include <algorithm>

torch::Tensor relu_multicore(const torch::Tensor& x) {
#ifdef GPSIMD_SINGLE_CORE
    const size_t cores = 1, core = 0;
#else
    const size_t cores = get_cpu_count(), core = get_cpu_id();
#endif
    const size_t kBlock = 1024;
    torch::Tensor y = get_dst_tensor();

    const size_t total = static_cast<size_t>(x.numel());
    const size_t share = (total + cores - 1) / cores;
    const size_t begin = std::min(core * share, total);
    const size_t end = std::min(begin + share, total);
    if (begin == end)
        return y;

    float* block = static_cast<float*>(torch::neuron::tcm_malloc(kBlock * sizeof(float)));
    assert(block != nullptr);
    auto in = x.tcm_accessor();
    auto out = y.tcm_accessor();
    for (size_t first = begin; first < end; first += kBlock) {
        const size_t n = std::min(kBlock, end - first);
        in.tensor_to_tcm<float>(block, first, n);
        for (size_t i = 0; i < n; ++i)
            block[i] = block[i] < 0.0f ? 0.0f : block[i];
        out.tcm_to_tensor<float>(block, first, n);
    }
    torch::neuron::tcm_free(block);
    return y;
}
