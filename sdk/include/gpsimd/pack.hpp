// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::Packing: several results in the one output that an operator has. The kernel and the shape function make the same
// Packing, so they agree on where each part begins. Plain C++: shape functions may include it.
//
// Parts count in words of four bytes; an int32 part of a float output holds the integers' bits: on the host, y[a:b].view(int32).
#pragma once

#include <stddef.h>

namespace gpsimd {

class Packing {
 public:
    // Adds a part of `words`; gives the word at which it begins, a multiple of `unit` (16 words are one line of the memory).
    size_t add(size_t words, size_t unit = 1) {
        const size_t begin = (words_ + unit - 1) / unit * unit;
        words_ = begin + words;
        return begin;
    }
    // Words of the whole output.
    size_t words() const { return words_; }

 private:
    size_t words_ = 0;
};

}  // namespace gpsimd
