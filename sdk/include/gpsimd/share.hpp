// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::share: which part of the work is this core's. The device has no barrier and no atomic, so cores must write disjoint
// parts; this is the split that 31 of 34 ported kernels wrote by hand. Unaware of tensors.
#pragma once

#include <neuron/neuron-utils.hpp>

#include <stddef.h>
#include <stdint.h>

namespace gpsimd {

// A run of indices, `end` not included.
struct Span {
    size_t begin, end;
    size_t size() const { return end - begin; }
    bool empty() const { return begin == end; }
};

// get_cpu_count() is 8 in a single-core build too, where the others never run. gpsimd-build compiles kernels for one core with
// -DGPSIMD_SINGLE_CORE; other builds must do so themselves.
inline size_t core_count() {
#ifdef GPSIMD_SINGLE_CORE
    return 1;
#else
    return get_cpu_count();
#endif
}
inline size_t core_id() {
#ifdef GPSIMD_SINGLE_CORE
    return 0;
#else
    return get_cpu_id();
#endif
}

// This core's part of `total` things, in whole multiples of `unit` but for the last: as even as that allows, empty when there
// is less work than cores.
inline Span share(size_t total, size_t unit = 1) {
    const size_t cores = core_count(), core = core_id();
    const size_t units = (total + unit - 1) / unit, each = units / cores, left = units % cores;
    const size_t first = core * each + (core < left ? core : left);
    const size_t begin = first * unit, end = (first + each + (core < left)) * unit;
    return {begin < total ? begin : total, end < total ? end : total};
}

}  // namespace gpsimd
