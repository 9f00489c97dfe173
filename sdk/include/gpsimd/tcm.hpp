// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::Tcm: a block of core-local memory that frees itself, and copies between it and tensors. Unaware of what is computed.
//
// A copy returns when it is complete: the documented API has no way to start one and wait for it later, so nothing here
// overlaps copying with computing. What it can do is to copy rarely: a transfer costs as much as some thousand instructions,
// whatever its size.
#pragma once

#include <torch/torch.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

namespace gpsimd {

// Ends the program with `text` on the device's log unless `condition` holds; with NDEBUG, too. No printf: that costs 17 KiB.
#define GPSIMD_REQUIRE(condition, text) \
    do {                                \
        if (!(condition)) {             \
            assert(!text);              \
            abort();                    \
        }                               \
    } while (false)

// The pool that all blocks of a core come out of; each block takes a multiple of 64 bytes.
const size_t kTcmBytes = 16384, kTcmAlignment = 64;

// `n` elements of core-local memory, uninitialised.
template <typename T>
class Tcm {
 public:
    explicit Tcm(size_t n) : size_(n), data_(n == 0 ? nullptr : static_cast<T*>(torch::neuron::tcm_malloc(n * sizeof(T)))) {
        GPSIMD_REQUIRE(n == 0 || data_ != nullptr, "out of TCM: all blocks of a core must fit 16 KiB");
    }
    // `n` elements that hold `value`.
    Tcm(size_t n, T value) : Tcm(n) { fill(value); }
    // All of a small tensor, such as weights that every row needs.
    explicit Tcm(const torch::Tensor& all) : Tcm(static_cast<size_t>(all.numel())) { load(all, 0, size_); }
    ~Tcm() { torch::neuron::tcm_free(data_); }
    Tcm(const Tcm&) = delete;
    Tcm& operator=(const Tcm&) = delete;

    operator T*() const { return data_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }
    size_t size() const { return size_; }

    // Copies `n` elements from element `first` of the flattened tensor to the start of the block, or to `at`.
    void load(const torch::Tensor& from, size_t first, size_t n, size_t at = 0) {
        if (n != 0) from.tcm_accessor().template tensor_to_tcm<T>(data_ + at, first, n);
    }
    // The way back.
    void store(torch::Tensor& to, size_t first, size_t n, size_t at = 0) const {
        if (n != 0) to.tcm_accessor().template tcm_to_tensor<T>(data_ + at, first, n);
    }
    void fill(T value) {
        for (T& element : *this) element = value;
    }

 private:
    size_t size_;
    T* data_;
};

// A tensor read through a block: `window[i]` loads the block around element i unless it is there. For indices, offsets and
// scales that are read in order or nearly so.
template <typename T>
class Window {
 public:
    explicit Window(const torch::Tensor& tensor, size_t block = 256)
        : tensor_(tensor), total_(static_cast<size_t>(tensor.numel())), block_(block < total_ ? block : total_) {}
    size_t size() const { return total_; }
    T operator[](size_t i) {
        if (i - first_ >= held_) {
            GPSIMD_REQUIRE(i < total_, "index past the end of the tensor");
            first_ = i;
            held_ = total_ - i < block_.size() ? total_ - i : block_.size();
            block_.load(tensor_, first_, held_);
        }
        return block_[i - first_];
    }

 private:
    const torch::Tensor& tensor_;
    size_t total_, first_ = 0, held_ = 0;
    Tcm<T> block_;
};

// Elements written one after the other from element `first` on: a write stream that is right on several cores, too.
template <typename T>
class Sink {
 public:
    Sink(torch::Tensor& tensor, size_t first, size_t block = 256) : tensor_(tensor), first_(first), block_(block) {}
    ~Sink() { flush(); }
    void push(T value) {
        if (held_ == block_.size()) flush();
        block_[held_++] = value;
    }
    void flush() {
        block_.store(tensor_, first_, held_);
        first_ += held_;
        held_ = 0;
    }

 private:
    torch::Tensor& tensor_;
    size_t first_, held_ = 0;
    Tcm<T> block_;
};

}  // namespace gpsimd
