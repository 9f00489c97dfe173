// SPDX-License-Identifier: Apache-2.0
//
// Sums and extremes of a run of floats in core-local memory. Unaware of tensors and cores.
#pragma once

#include <gpsimd/fast.hpp>

#include <stddef.h>
#include <stdint.h>

namespace gpsimd {

// A loop by itself keeps its variables in registers; inside another it would not.
#define GPSIMD_KIT_OUT_OF_LINE inline __attribute__((noinline))

// The sum, in order, as float.
GPSIMD_KIT_OUT_OF_LINE float sum(const float* x, size_t n) {
    float total = 0;
    for (const float* end = x + n; x != end; ++x) total += *x;
    return total;
}
// The sum of x[i] * y[i].
GPSIMD_KIT_OUT_OF_LINE float dot(const float* x, const float* y, size_t n) {
    float total = 0;
    for (const float* end = x + n; x != end; ++x, ++y) total += *x * *y;
    return total;
}
// |p - q|^2 of two points.
template <size_t Dimensions>
float squared_distance(const float* p, const float* q) {
    const float d = p[Dimensions - 1] - q[Dimensions - 1];
    return squared_distance<Dimensions - 1>(p, q) + d * d;
}
template <>
inline float squared_distance<1>(const float* p, const float* q) {
    const float d = p[0] - q[0];
    return d * d;
}
// The largest element, and where it is first; n is not 0. By key: not for NaN.
GPSIMD_KIT_OUT_OF_LINE float largest(const float* x, size_t n) {
    int32_t most = fast::key(x[0]);
    for (size_t i = 1; i < n; ++i) {
        const int32_t k = fast::key(x[i]);
        if (k > most) most = k;
    }
    return fast::of_key(most);
}
GPSIMD_KIT_OUT_OF_LINE size_t index_of_largest(const float* x, size_t n) {
    int32_t most = fast::key(x[0]);
    size_t at = 0;
    for (size_t i = 1; i < n; ++i) {
        const int32_t k = fast::key(x[i]);
        if (k > most) {
            most = k;
            at = i;
        }
    }
    return at;
}

}  // namespace gpsimd
