// One variable of each type that has a printer. Device memory begins at 0x1000.
#include <gpsimd/kit.hpp>
#include "runtime.hpp"

#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

extern "C" int entry() {
  at::Tensor undefined;
  at::Tensor row = made(0x1000, at::kFloat, {5}, {1});
  at::Tensor grid = made(0x1000, at::kFloat, {2, 3}, {3, 1});
  at::Tensor turned = made(0x1000, at::kFloat, {3, 2}, {1, 3});
  at::Tensor halves = made(0x1100, at::kHalf, {3}, {1});
  at::Tensor brains = made(0x1100, at::kBFloat16, {2}, {1});
  at::Tensor bytes = made(0x1100, at::kByte, {2}, {1});
  at::Tensor scalar = made(0x1008, at::kFloat, {}, {});
  const at::Tensor& alias = grid;
  at::TensorAccessor<float, 2, true> access(c10::Q7PtrType(0x1000, nullptr), grid.sizes().data(), grid.strides().data(),
                                            *new at::CoherencyEnforcer);
  at::TensorElementReference<float, true> element(c10::Q7PtrType(0x1000, nullptr), 4);
  at::TensorTcmAccessor<false> copies{c10::Q7PtrType(0x1000, nullptr)};
  at::Half half(uint16_t(0x3e00), at::Half::from_bits());
  at::BFloat16 brain(uint16_t(0xbf80), at::BFloat16::from_bits());
  at::Scalar number(7);
  at::Scalar real(0.25);
  at::IntArrayRef sizes = grid.sizes();
  c10::Q7PtrType null(nullptr);
  c10::TensorOptions options(at::kHalf);
  at::ScalarType dtype = at::kBFloat16;
  gpsimd::Span span = {3, 9};
  gpsimd::Tcm<int> block(3);
  block[0] = 10; block[1] = 20; block[2] = 30;
  gpsimd::Window<float> window(grid, 4);
  float through = window[1];
  gpsimd::Sink<float> sink(grid, 2, 4);
  sink.push(1);
  at::CoherencyEnforcer open;
  at::TensorReadStreamAccessor<float> reader(c10::Q7PtrType(0x1000, nullptr), 24, open);
  through += reader.read();
  at::CoherencyEnforcer other;
  at::TensorWriteStreamAccessor<float> writer(c10::Q7PtrType(0x1000, nullptr), 24, other);
  writer.close();
  c10::UniqueQ7Ptr owned(c10::Q7PtrType(0x1000, nullptr));
  caffe2::TypeMeta meta = grid.dtype();
  c10::intrusive_ptr<c10::NeuronStorageImpl> shared(new c10::NeuronStorageImpl(64, c10::UniqueQ7Ptr()));
  std::optional<int> some = 5;
  std::optional<int> nothing;
  std::string text = "short";
  std::unique_ptr<int> only(new int(17));
  std::vector<int> many;
  many.push_back(1); many.push_back(2); many.push_back(3);
  std::vector<int> empty;
  std::array<short, 3> three = {{7, 8, 9}};
  std::pair<int, bool> pair(4, true);
  std::tuple<int, char, long long> tuple(1, 'x', -2);
  std::initializer_list<int> list = {5, 6};
  stop();
  return int(many.size() + three[0] + pair.first + std::get<0>(tuple) + list.size() + block[0] + empty.size() + span.begin +
             size_t(undefined.defined()) + row.dim() + turned.dim() + halves.dim() + brains.dim() + bytes.dim() +
             scalar.dim() + alias.dim() + sizes.size() + size_t(dtype) + half.x + brain.x) +
         number.toInt() + real.isFloatingPoint() + int(null.is_nullptr) + int(through) + bool(owned) + meta.itemsize() + shared.use_count() +
         some.value_or(1) + nothing.has_value() + int(text.size()) + *only + int(options.has_dtype());
}
