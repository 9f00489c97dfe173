// SPDX-License-Identifier: Apache-2.0
//
// relu_elements: forward and backward pass of max(x, 0) on matrices through element accessors of rank 2. Every x[i][j] is
// one access to device memory, so this is the readable way, not the fast one (see relu_tcm.cpp).
//
// Schemas: my::relu_rows(Tensor x) -> (Tensor y)
//          my::relu_rows_backward(Tensor grad, Tensor x) -> (Tensor grad_x)
// Build:   gpsimd-build compile relu_elements.cpp

#include <torch/torch.h>

torch::Tensor relu_rows(const torch::Tensor& x) {
    torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
    auto in = x.accessor<float, 2>();
    auto out = y.accessor<float, 2>();
    for (int64_t i = 0; i < x.size(0); ++i) {
        for (int64_t j = 0; j < x.size(1); ++j) {
            const float v = in[i][j];
            out[i][j] = v < 0.0f ? 0.0f : v;  // written so that a NaN stays a NaN
        }
    }
    return y;
}

torch::Tensor relu_rows_backward(const torch::Tensor& grad, const torch::Tensor& x) {
    torch::Tensor grad_x = torch::empty(x.sizes(), torch::kFloat);
    auto g = grad.accessor<float, 2>();
    auto in = x.accessor<float, 2>();
    auto out = grad_x.accessor<float, 2>();
    for (int64_t i = 0; i < x.size(0); ++i) {
        for (int64_t j = 0; j < x.size(1); ++j) {
            const float slope = in[i][j] > 0.0f ? 1.0f : 0.0f;
            out[i][j] = slope * g[i][j];
        }
    }
    return grad_x;
}
