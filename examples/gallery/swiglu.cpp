// SPDX-License-Identifier: Apache-2.0
//
// swiglu: silu(gate) * up, element by element, for float, bfloat16 or half.
//
// Schema: my::swiglu(Tensor gate, Tensor up) -> (Tensor y)

#include <gpsimd/dispatch.hpp>
#include <gpsimd/kit.hpp>

torch::Tensor swiglu(const torch::Tensor& gate, const torch::Tensor& up) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::dispatch_floating(gate, [&](auto type) {
        typedef typename decltype(type)::type T;
        gpsimd::map<T(T, T)>(y, [](T g, T u) -> T { return gpsimd::fast::silu(g) * static_cast<float>(u); }, gate, up);
    });
    return y;
}
