// SPDX-License-Identifier: Apache-2.0
//
// relu_tcm: max(x, 0) for a tensor of any shape, in blocks that travel through the core's own memory (TCM). One transfer
// per block instead of one access per element.
//
// Schema: my::relu_tcm(Tensor x) -> (Tensor y)
// Build:  gpsimd-build compile relu_tcm.cpp

#include <torch/torch.h>

#include <algorithm>

torch::Tensor relu_tcm(const torch::Tensor& x) {
    const size_t kBlock = 2048;  // 8 KiB of the 16 KiB that a kernel can have
    torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
    float* block = static_cast<float*>(torch::neuron::tcm_malloc(kBlock * sizeof(float)));
    assert(block != nullptr);

    auto in = x.tcm_accessor();
    auto out = y.tcm_accessor();
    const size_t total = static_cast<size_t>(x.numel());
    for (size_t first = 0; first < total; first += kBlock) {
        const size_t n = std::min(kBlock, total - first);
        in.tensor_to_tcm<float>(block, first, n);
        for (size_t i = 0; i < n; ++i)
            block[i] = block[i] < 0.0f ? 0.0f : block[i];
        out.tcm_to_tensor<float>(block, first, n);
    }

    torch::neuron::tcm_free(block);
    return y;
}
