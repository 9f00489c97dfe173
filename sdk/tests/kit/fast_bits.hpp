// SPDX-License-Identifier: Apache-2.0
//
// Every function of gpsimd/fast.hpp by number, for a kernel and for a program of this machine: both must give the same bits,
// or what is proven of all floats on the one would not hold on the other.
#pragma once

#include <gpsimd/fast.hpp>

const int kFunctions = 19;

inline float fast_by_number(int which, float x) {
    using namespace gpsimd::fast;
    float s, c;
    switch (which) {
        case 0: return exp(x);
        case 1: return log(x);
        case 2: return tanh(x);
        case 3: return sigmoid(x);
        case 4: return silu(x);
        case 5: return softplus(x);
        case 6: return erf(x);
        case 7: return gelu(x);
        case 8: return rsqrt(x);
        case 9: return sqrt(x);
        case 10: return sin(x);
        case 11: return cos(x);
        case 12: sincos(x, s, c); return s;
        case 13: sincos(x, s, c); return c;
        case 14: return of_key(~round_to_int(x));
        case 15: return of_key(~floor_to_int(x));
        case 16: return FloatDivisor(3.0f)(x);
        case 17: return FloatDivisor(-1e-3f)(x);
        default: return of_key(static_cast<int32_t>(Divisor(641).quotient(static_cast<uint32_t>(key(x)))));
    }
}
