// SPDX-License-Identifier: Apache-2.0
//
// Memory that DMA cannot reach: `before` copies to a static array, which the core does word by word, `after` to TCM.
//
// Build: gpsimd-build compile examples/tuning/local_array.cpp

#include <gpsimd/kit.hpp>

static float array[1024];

torch::Tensor before(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = x.numel();
    x.tcm_accessor().tensor_to_tcm<float>(array, 0, n);  // SLOW
    for (size_t i = 0; i < n; ++i) array[i] = array[i] + 1.0f;
    y.tcm_accessor().tcm_to_tensor<float>(array, 0, n);  // SLOW
    return y;
}

torch::Tensor after(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t n = x.numel();
    gpsimd::Tcm<float> block(n);
    x.tcm_accessor().tensor_to_tcm<float>(block, 0, n);
    for (size_t i = 0; i < n; ++i) block[i] = block[i] + 1.0f;
    y.tcm_accessor().tcm_to_tensor<float>(block, 0, n);
    return y;
}
