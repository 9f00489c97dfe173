// SPDX-License-Identifier: Apache-2.0
//
// Work repeated in a loop: `before` allocates a block for every row, `after` one for all of them.
//
// Build: gpsimd-build compile examples/tuning/allocation.cpp

#include <gpsimd/kit.hpp>

torch::Tensor before(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t rows = x.size(0), n = x.size(1);
    gpsimd::Tcm<float> all(rows * n);
    all.load(x, 0, rows * n);
    for (size_t i = 0; i < rows; ++i) {
        float* sums = static_cast<float*>(torch::neuron::tcm_malloc(n * sizeof(float)));  // SLOW
        for (size_t j = 0; j < n; ++j) sums[j] = all[i * n + (j ^ 1)];
        for (size_t j = 0; j < n; ++j) all[i * n + j] = sums[j];
        torch::neuron::tcm_free(sums);  // SLOW
    }
    all.store(y, 0, rows * n);
    return y;
}

torch::Tensor after(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t rows = x.size(0), n = x.size(1);
    gpsimd::Tcm<float> all(rows * n), sums(n);
    all.load(x, 0, rows * n);
    for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < n; ++j) sums[j] = all[i * n + (j ^ 1)];
        for (size_t j = 0; j < n; ++j) all[i * n + j] = sums[j];
    }
    all.store(y, 0, rows * n);
    return y;
}
