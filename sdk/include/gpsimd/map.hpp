// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::map and its relatives: the same work on every element, or on every block, of whole tensors; each core does its share.
#pragma once

#include <gpsimd/share.hpp>
#include <gpsimd/tcm.hpp>

#include <utility>

namespace gpsimd {

// Bytes of TCM that one loop over blocks takes at most; the rest is the author's.
const size_t kBlockBytes = 12288;

// All elements of x.
inline Span whole(const torch::Tensor& x) { return {0, static_cast<size_t>(x.numel())}; }

namespace detail {
// Calls f out of line: a float operation leaves its caller six registers, and what surrounds a loop would spill the loop's.
template <typename F, typename... Arguments>
__attribute__((noinline)) void apply(F& f, Arguments... arguments) {
    f(arguments...);
}
}  // namespace detail

// f(b, n) for every block of elements [span.begin, span.end) of x, in order; b is valid during the call.
template <typename T, typename F>
void read_blocks(const torch::Tensor& x, Span span, Tcm<T>& block, F f) {
    for (size_t first = span.begin, n; first < span.end; first += n) {
        n = span.end - first < block.size() ? span.end - first : block.size();
        block.load(x, first, n);
        detail::apply(f, block.begin(), n);
    }
}

// The same, and what f leaves in b goes to the same elements of y.
template <typename T, typename F>
void update_blocks(const torch::Tensor& x, torch::Tensor& y, Span span, Tcm<T>& block, F f) {
    for (size_t first = span.begin, n; first < span.end; first += n) {
        n = span.end - first < block.size() ? span.end - first : block.size();
        block.load(x, first, n);
        detail::apply(f, block.begin(), n);
        block.store(y, first, n);
    }
}

namespace detail {

// Arrays of several types in one block of TCM: `elements` of each, each aligned.
template <typename... T>
class Arrays {
 public:
    static constexpr size_t count = sizeof...(T);
    // Bytes that one element of each takes.
    static size_t bytes_of_one() {
        const size_t each[] = {sizeof(T)...};
        size_t all = 0;
        for (size_t bytes : each) all += bytes;
        return all;
    }
    explicit Arrays(size_t elements) : room_(elements * bytes_of_one() + count * kTcmAlignment) {
        const size_t each[] = {sizeof(T)...};
        char* next = room_;
        for (size_t k = 0; k < count; ++k) {
            start_[k] = next;
            next += (elements * each[k] + kTcmAlignment - 1) / kTcmAlignment * kTcmAlignment;
        }
    }
    template <typename U>
    U* array(size_t k) const {
        return reinterpret_cast<U*>(start_[k]);
    }

 private:
    Tcm<char> room_;
    char* start_[count];
};

template <typename T>
void load(const torch::Tensor& from, size_t first, size_t n, T* to) {
    from.tcm_accessor().template tensor_to_tcm<T>(to, first, n);
}
template <typename T>
void store(torch::Tensor& to, size_t first, size_t n, T* from) {
    to.tcm_accessor().template tcm_to_tensor<T>(from, first, n);
}

template <typename Signature>
struct Map;
template <typename Out, typename... In>
struct Map<Out(In...)> {
    template <typename F>
    static __attribute__((noinline)) void each(F& f, size_t n, Out* out, const In*... in) {
        for (size_t i = 0; i < n; ++i) out[i] = f(in[i]...);
    }
    template <typename F, size_t... K, typename... X>
    static void run(torch::Tensor& y, F& f, std::index_sequence<K...>, const X&... x) {
        const Span mine = share(static_cast<size_t>(y.numel()), kTcmAlignment);
        if (mine.empty()) return;
        const size_t most = kBlockBytes / Arrays<Out, In...>::bytes_of_one(), block = mine.size() < most ? mine.size() : most;
        const Arrays<Out, In...> arrays(block);
        Out* const out = arrays.template array<Out>(0);
        for (size_t first = mine.begin, n; first < mine.end; first += n) {
            n = mine.end - first < block ? mine.end - first : block;
            const int loads[] = {(load<In>(x, first, n, arrays.template array<In>(K + 1)), 0)...};
            static_cast<void>(loads);
            each(f, n, out, arrays.template array<In>(K + 1)...);
            store<Out>(y, first, n, out);
        }
    }
};

}  // namespace detail

// y[i] = f(x[i], ...) for every element: map<float(float, float)>(y, f, a, b). The inputs have as many elements as y.
template <typename Signature, typename F, typename... X>
void map(torch::Tensor& y, F f, const X&... x) {
    detail::Map<Signature>::run(y, f, std::make_index_sequence<sizeof...(X)>(), x...);
}

}  // namespace gpsimd
