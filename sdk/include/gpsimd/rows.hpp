// SPDX-License-Identifier: Apache-2.0
//
// gpsimd::rows: the same work on every row of a matrix; each core has its rows. Several short rows travel in one copy.
//
// A row of a tensor here is a run of elements: rows(x, n) sees x as a matrix of numel / n rows, whatever its rank.
#pragma once

#include <gpsimd/map.hpp>

namespace gpsimd {

// Extent of the last dimension, 1 for a scalar tensor.
inline size_t last_extent(const torch::Tensor& x) { return x.dim() == 0 ? 1 : static_cast<size_t>(x.size(x.dim() - 1)); }

namespace detail {

// As many rows as fit `bytes` when one takes `row`, at least one, at most `rows`.
inline size_t rows_at_once(size_t rows, size_t row, size_t bytes = kBlockBytes) {
    const size_t fit = row == 0 ? rows : bytes / row, least = fit == 0 ? 1 : fit;
    return least < rows ? least : rows;
}

template <typename Signature>
struct Rows;
template <typename Out, typename... In>
struct Rows<Out(In...)> {
    template <typename F, size_t... K, typename... X>
    static void run(size_t rows, torch::Tensor& y, size_t part, size_t width, F& f, std::index_sequence<K...>, const X&... x) {
        const Span mine = share(rows);
        if (mine.empty()) return;
        const size_t widths[] = {static_cast<size_t>(x.numel()) / rows..., 0}, sizes[] = {sizeof(In)..., 0};
        size_t bytes = width * sizeof(Out);
        for (size_t k = 0; k < sizeof...(In); ++k) bytes += widths[k] * sizes[k];
        const size_t most = rows_at_once(mine.size(), bytes);
        Tcm<char> room(most * bytes + (sizeof...(In) + 1) * kTcmAlignment);
        char* at[sizeof...(In) + 1];
        at[0] = room;
        for (size_t k = 0; k < sizeof...(In); ++k) {
            const size_t taken = most * (k == 0 ? width * sizeof(Out) : widths[k - 1] * sizes[k - 1]);
            at[k + 1] = at[k] + (taken + kTcmAlignment - 1) / kTcmAlignment * kTcmAlignment;
        }
        for (size_t first = mine.begin, n; first < mine.end; first += n) {
            n = mine.end - first < most ? mine.end - first : most;
            const int loads[] = {0, (load<In>(x, first * widths[K], n * widths[K], reinterpret_cast<In*>(at[K + 1])), 0)...};
            static_cast<void>(loads);
            for (size_t r = 0; r < n; ++r)
                apply(f, first + r, reinterpret_cast<Out*>(at[0]) + r * width, (reinterpret_cast<In*>(at[K + 1]) + r * widths[K])...);
            store<Out>(y, part + first * width, n * width, reinterpret_cast<Out*>(at[0]));
        }
    }
};

}  // namespace detail

// f(r, row) changes row r of x, of `width` elements, into row r of y. One row must fit TCM.
template <typename T, typename F>
void rows(const torch::Tensor& x, torch::Tensor& y, size_t width, F f) {
    const Span mine = share(static_cast<size_t>(x.numel()) / width);
    if (mine.empty()) return;
    const size_t most = detail::rows_at_once(mine.size(), width * sizeof(T), kBlockBytes / 2);
    Tcm<T> block(most * width);
    for (size_t first = mine.begin, n; first < mine.end; first += n) {
        n = mine.end - first < most ? mine.end - first : most;
        block.load(x, first * width, n * width);
        for (size_t r = 0; r < n; ++r) detail::apply(f, first + r, block + r * width);
        block.store(y, first * width, n * width);
    }
}

// f(r, out, in, ...) writes row r of y from row r of each input: rows<int32_t(float)>(count, y, f, x). There are `count` rows
// in each tensor; a row's length is what follows from that. One row of each must fit TCM together.
template <typename Signature, typename F, typename... X>
void rows(size_t count, torch::Tensor& y, F f, const X&... x) {
    detail::Rows<Signature>::run(count, y, 0, static_cast<size_t>(y.numel()) / count, f, std::make_index_sequence<sizeof...(X)>(), x...);
}

namespace detail {
template <typename Signature, typename F>
struct OneOfRow;
template <typename Out, typename In, typename F>
struct OneOfRow<Out(In), F> {
    F f;
    void operator()(size_t, Out* out, const In* in) { *out = f(in); }
};
}  // namespace detail

// y[part + r] = f(row r of x) for the `count` rows of x: one number a row, from element `part` of y on.
template <typename Signature, typename F>
void reduce_rows(const torch::Tensor& x, torch::Tensor& y, size_t part, size_t count, F f) {
    detail::OneOfRow<Signature, F> one = {f};
    detail::Rows<Signature>::run(count, y, part, 1, one, std::make_index_sequence<1>(), x);
}
// y[r] = f(row r of x).
template <typename Signature, typename F>
void reduce_rows(const torch::Tensor& x, torch::Tensor& y, F f) {
    reduce_rows<Signature>(x, y, 0, static_cast<size_t>(y.numel()), f);
}

// y[i, :] = table[index[i], :] for rows of `width` elements. Every index must be a row of the table.
template <typename T>
void gather_rows(const torch::Tensor& table, const torch::Tensor& index, torch::Tensor& y, size_t width) {
    const Span mine = share(static_cast<size_t>(index.numel()));
    if (mine.empty()) return;
    const size_t known = static_cast<size_t>(table.numel()) / width;
    const size_t most = detail::rows_at_once(mine.size(), width * sizeof(T), kBlockBytes / 2);
    Tcm<T> block(most * width);
    Window<int64_t> at(index);
    for (size_t first = mine.begin, n; first < mine.end; first += n) {
        n = mine.end - first < most ? mine.end - first : most;
        for (size_t r = 0; r < n; ++r) {
            const int64_t k = at[first + r];
            GPSIMD_REQUIRE(k >= 0 && static_cast<uint64_t>(k) < known, "index out of range");
            block.load(table, static_cast<size_t>(k) * width, width, r * width);
        }
        block.store(y, first * width, n * width);
    }
}

// y = base; then f(row of y, row of source) for every i with that row of y = index[i], in the order of i: scatter. Each core
// owns rows of y and reads every index, because two cores must not write one row. Every index must be a row of y.
template <typename T, typename F>
void scatter_rows(const torch::Tensor& base, const torch::Tensor& index, const torch::Tensor& source, torch::Tensor& y, size_t width,
                  F f) {
    const size_t known = static_cast<size_t>(y.numel()) / width, count = static_cast<size_t>(index.numel());
    const Span mine = share(known);
    if (mine.empty()) return;
    const size_t most = detail::rows_at_once(mine.size(), width * sizeof(T));
    Tcm<T> block(most * width), row(width);
    Window<int64_t> at(index);
    for (size_t first = mine.begin, n; first < mine.end; first += n) {
        n = mine.end - first < most ? mine.end - first : most;
        block.load(base, first * width, n * width);
        for (size_t i = 0; i < count; ++i) {
            const uint64_t k = static_cast<uint64_t>(at[i]);
            GPSIMD_REQUIRE(k < known, "index out of range");
            const size_t r = static_cast<size_t>(k) - first;
            if (r >= n) continue;
            row.load(source, i * width, width);
            detail::apply(f, block + r * width, row.begin());
        }
        block.store(y, first * width, n * width);
    }
}

}  // namespace gpsimd
