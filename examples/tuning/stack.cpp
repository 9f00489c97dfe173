// SPDX-License-Identifier: Apache-2.0
//
// A stack in device memory: `before` needs a STACK_SIZE beyond the local 8 KiB for its array, and every local variable is then
// an access to device memory; `after` has the array in TCM, and the default stack.
//
// Build: gpsimd-build compile examples/tuning/stack.cpp -- -DSTACK_SIZE=20000

#include <gpsimd/kit.hpp>

torch::Tensor before(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    volatile int counts[3000] = {};  // SLOW
    for (int i = 0; i < 3000; ++i) counts[i & 1023] += i;  // SLOW
    gpsimd::Tcm<float> block(1);
    block[0] = static_cast<float>(counts[7]);
    block.store(y, 0, 1);
    return y;
}

torch::Tensor after(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::Tcm<int> space(3000, 0);
    volatile int* counts = space;
    for (int i = 0; i < 3000; ++i) counts[i & 1023] += i;
    gpsimd::Tcm<float> block(1);
    block[0] = static_cast<float>(counts[7]);
    block.store(y, 0, 1);
    return y;
}
