// SPDX-License-Identifier: Apache-2.0
//
// 2. relu: forward and backward pass of max(x, 0), two operators in one library. What map is given may be any function; the
// inputs may be of any shape.
//
// Schemas: my::relu_forward(Tensor x) -> (Tensor y)
//          my::relu_backward(Tensor grad, Tensor x) -> (Tensor grad_x)
// Build:   gpsimd-build compile examples/relu.cpp --multicore --schema 'my::relu_forward(Tensor x) -> (Tensor y)'
//            --schema 'my::relu_backward(Tensor grad, Tensor x) -> (Tensor grad_x)'

#include <gpsimd/kit.hpp>

namespace {

float relu(float x) { return x < 0.0f ? 0.0f : x; }  // written so that a NaN stays a NaN

float relu_slope(float grad, float x) { return (x > 0.0f ? 1.0f : 0.0f) * grad; }

}  // namespace

torch::Tensor relu_forward(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::map<float(float)>(y, relu, x);
    return y;
}

torch::Tensor relu_backward(const torch::Tensor& grad, const torch::Tensor& x) {
    torch::Tensor grad_x = get_dst_tensor();
    gpsimd::map<float(float, float)>(grad_x, relu_slope, grad, x);
    return grad_x;
}
