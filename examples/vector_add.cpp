// SPDX-License-Identifier: Apache-2.0
//
// 1. vector_add: the smallest useful operator, out[i] = a[i] + b[i]. The result is get_dst_tensor(), and gpsimd::map does the
// rest: each core takes its share of the elements, brings them to core-local memory in blocks and takes them back.
//
// Schema: my::vector_add(Tensor a, Tensor b) -> (Tensor out)
// Build:  gpsimd-build compile examples/vector_add.cpp --multicore --schema 'my::vector_add(Tensor a, Tensor b) -> (Tensor out)'

#include "custom_op.h"

#include <gpsimd/kit.hpp>

at::Tensor vector_add(const at::Tensor& a, const at::Tensor& b) {
    at::Tensor out = get_dst_tensor();
    gpsimd::map<float(float, float)>(out, [](float x, float y) { return x + y; }, a, b);
    return out;
}
