// SPDX-License-Identifier: Apache-2.0
//
// bincount: how often each of the numbers 0 to bins - 1 occurs in x (int64). Each core counts some of the numbers and
// reads everything.
//
// Schema: my::bincount(Tensor x, int bins) -> (Tensor y)

#include <gpsimd/kit.hpp>

torch::Tensor bincount(const torch::Tensor& x, int bins) {
    torch::Tensor y = get_dst_tensor();
    const gpsimd::Span mine = gpsimd::share(bins, 16);
    gpsimd::Tcm<int32_t> count(mine.size(), 0);
    gpsimd::Tcm<int64_t> block(1024);
    gpsimd::read_blocks(x, gpsimd::whole(x), block, [mine, at = count.begin()](const int64_t* b, size_t n) {
        const size_t first = mine.begin, bins_here = mine.size();
        int32_t* const counts = at;
        for (const int64_t* end = b + n; b != end; ++b) {
            const size_t bin = static_cast<size_t>(*b) - first;
            if (bin < bins_here) ++counts[bin];
        }
    });
    count.store(y, mine.begin, mine.size());
    return y;
}
