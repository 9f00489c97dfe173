// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::dispatch: one kernel body for several element types. The public reference has neither `dtype()` of a tensor nor the
// C++ names of bfloat16 and half, though PyTorch has both; that is why kit.hpp does not include this. A kernel that must do
// without takes the type as an int argument, or is one operator per type.
#pragma once

#include <gpsimd/tcm.hpp>

namespace gpsimd {

// Carries a type to a generic lambda: `typename decltype(tag)::type`.
template <typename T>
struct Type {
    typedef T type;
};

// Calls f(Type<T>()) with the element type of x: one of float, bfloat16, half, int32, int16, int8, uint8.
template <typename Tensor, typename F>
void dispatch(const Tensor& x, F f) {
    const auto type = x.dtype();
    if (type == torch::kFloat) f(Type<float>());
    else if (type == torch::kBFloat16) f(Type<c10::BFloat16>());
    else if (type == torch::kHalf) f(Type<c10::Half>());
    else if (type == torch::kInt) f(Type<int32_t>());
    else if (type == torch::kShort) f(Type<int16_t>());
    else if (type == torch::kChar) f(Type<int8_t>());
    else if (type == torch::kByte) f(Type<uint8_t>());
    else GPSIMD_REQUIRE(false, "element type not supported");
}
// The floating-point ones only: what the others would cost in code is not linked.
template <typename Tensor, typename F>
void dispatch_floating(const Tensor& x, F f) {
    const auto type = x.dtype();
    if (type == torch::kFloat) f(Type<float>());
    else if (type == torch::kBFloat16) f(Type<c10::BFloat16>());
    else if (type == torch::kHalf) f(Type<c10::Half>());
    else GPSIMD_REQUIRE(false, "element type not supported: float, bfloat16 or half");
}

}  // namespace gpsimd
