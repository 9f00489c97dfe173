// SPDX-License-Identifier: Apache-2.0
//
// Planes: the last two dimensions of a tensor, as images have them. A whole plane in TCM where it fits, else tiles with a border.
#pragma once

#include <gpsimd/fast.hpp>
#include <gpsimd/map.hpp>

namespace gpsimd {

// The plane that was asked for last, kept in TCM: work that visits planes in order loads each once.
template <typename T>
class Plane {
 public:
    explicit Plane(const torch::Tensor& x)
        : tensor_(x), height_(static_cast<int>(x.size(x.dim() - 2))), width_(static_cast<int>(x.size(x.dim() - 1))),
          data_(static_cast<size_t>(height_ * width_)) {}
    int height() const { return height_; }
    int width() const { return width_; }
    // Plane number `plane`, row by row.
    const T* at(size_t plane) {
        if (plane != held_) data_.load(tensor_, plane * data_.size(), data_.size());
        held_ = plane;
        return data_;
    }

 private:
    const torch::Tensor& tensor_;
    int height_, width_;
    size_t held_ = SIZE_MAX;
    Tcm<T> data_;
};

// The plane between its elements, at row v and column u inside it: the four neighbours weighted by nearness.
inline float bilinear(const float* plane, int height, int width, float v, float u) {
    const int y = fast::floor_to_int(v), x = fast::floor_to_int(u);
    const float fy = v - y, fx = u - x;
    const float* const above = plane + y * width;
    const float* const below = y + 1 < height ? above + width : above;
    const int right = x + 1 < width ? x + 1 : x;
    const float top = above[x] + (above[right] - above[x]) * fx, bottom = below[x] + (below[right] - below[x]) * fx;
    return top + (bottom - top) * fy;
}
// The same anywhere, with zeros around the plane.
inline float bilinear_or_zero(const float* plane, int height, int width, float v, float u) {
    const int y = fast::floor_to_int(v), x = fast::floor_to_int(u);
    const float fy = v - y, fx = u - x;
    const auto at = [=](int r, int c) { return r >= 0 && r < height && c >= 0 && c < width ? plane[r * width + c] : 0.0f; };
    const float top = at(y, x) + (at(y, x + 1) - at(y, x)) * fx, bottom = at(y + 1, x) + (at(y + 1, x + 1) - at(y + 1, x)) * fx;
    return top + (bottom - top) * fy;
}

// A rectangle of a plane: `height` x `width` elements from row y, column x on.
struct Tile {
    size_t plane;
    int y, x, height, width;
};

// Loads a tile of a tensor's plane; what lies outside the plane becomes `outside`.
template <typename T>
void load_tile(const torch::Tensor& from, const Tile& tile, T* to, T outside = T()) {
    const int rows = static_cast<int>(from.size(from.dim() - 2)), columns = static_cast<int>(from.size(from.dim() - 1));
    const int left = tile.x < 0 ? -tile.x : 0, right = tile.x + tile.width > columns ? columns - tile.x : tile.width;
    auto in = from.tcm_accessor();
    for (int r = 0; r < tile.height; ++r, to += tile.width) {
        const int y = tile.y + r;
        const bool inside = y >= 0 && y < rows && left < right;
        for (int c = 0; c < tile.width; ++c)
            if (!inside || c < left || c >= right) to[c] = outside;
        const size_t first = (tile.plane * static_cast<size_t>(rows) + static_cast<size_t>(y)) * static_cast<size_t>(columns);
        if (inside) in.template tensor_to_tcm<T>(to + left, first + static_cast<size_t>(tile.x + left), static_cast<size_t>(right - left));
    }
}

// f(out, in, tile) for every tile of every plane of y, each core its share: `out` is the tile's height x width elements, `in` the
// same place of x with `border` more on each side, so its rows are tile.width + 2 * border long. x and y are of one shape.
template <typename T, typename F>
void tiles(const torch::Tensor& x, torch::Tensor& y, int height, int width, int border, F f, T outside = T()) {
    const int rows = static_cast<int>(y.size(y.dim() - 2)), columns = static_cast<int>(y.size(y.dim() - 1));
    const int across = (columns + width - 1) / width, down = (rows + height - 1) / height;
    const size_t planes = static_cast<size_t>(y.numel()) / static_cast<size_t>(rows * columns), each = static_cast<size_t>(across * down);
    const Span mine = share(planes * each);
    if (mine.empty()) return;
    Tcm<T> out(static_cast<size_t>(height * width)), in(static_cast<size_t>((height + 2 * border) * (width + 2 * border)));
    for (size_t k = mine.begin; k < mine.end; ++k) {
        const int at = static_cast<int>(k % each);
        Tile tile = {k / each, at / across * height, at % across * width, height, width};
        if (tile.y + height > rows) tile.height = rows - tile.y;
        if (tile.x + width > columns) tile.width = columns - tile.x;
        load_tile<T>(x, {tile.plane, tile.y - border, tile.x - border, tile.height + 2 * border, tile.width + 2 * border}, in, outside);
        f(out.begin(), in.begin(), tile);
        for (int r = 0; r < tile.height; ++r) {
            const size_t row = tile.plane * static_cast<size_t>(rows) + static_cast<size_t>(tile.y + r);
            out.store(y, row * static_cast<size_t>(columns) + static_cast<size_t>(tile.x), static_cast<size_t>(tile.width),
                      static_cast<size_t>(r * tile.width));
        }
    }
}

}  // namespace gpsimd
