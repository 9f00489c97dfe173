// SPDX-License-Identifier: Apache-2.0
//
// Reads floats, writes what each function makes of them, function by function.

#include "fast_bits.hpp"

#include <cstdio>
#include <vector>

int main() {
    std::vector<float> x;
    for (float v; std::fread(&v, sizeof v, 1, stdin) == 1;) x.push_back(v);
    for (int which = 0; which < kFunctions; ++which) {
        std::vector<float> y;
        for (float v : x) y.push_back(fast_by_number(which, v));
        if (std::fwrite(y.data(), sizeof(float), y.size(), stdout) != y.size()) return 1;
    }
    return 0;
}
