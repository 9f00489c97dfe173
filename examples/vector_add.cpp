// SPDX-License-Identifier: Apache-2.0
//
// vector_add: the smallest useful operator, out[i] = a[i] + b[i], through element accessors.
//
// Schema: my::vector_add(Tensor a, Tensor b) -> (Tensor out)
// Build:  gpsimd-build compile examples/vector_add.cpp --schema 'my::vector_add(Tensor a, Tensor b) -> (Tensor out)'

#include "custom_op.h"

at::Tensor vector_add(const at::Tensor& a, const at::Tensor& b) {
    at::Tensor out = at::empty_like(a);
    auto av = a.accessor<float, 1>();
    auto bv = b.accessor<float, 1>();
    auto ov = out.accessor<float, 1>();
    for (int64_t i = 0; i < a.size(0); ++i)
        ov[i] = av[i] + bv[i];
    return out;
}
