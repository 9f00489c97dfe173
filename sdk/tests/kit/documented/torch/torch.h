// SPDX-License-Identifier: Apache-2.0
//
// The documented declarations of this header (user-api.md §3 to §7) as far as kernels of the gallery could want them, and
// nothing else: a build of the kit and the gallery against it shows that they need no more. Nothing here is defined.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <initializer_list>

namespace c10 {
struct Dtype {};  // of the constants
class TensorOptions {
 public:
  TensorOptions(const Dtype&);
};
class Scalar {
 public:
  Scalar(int);
  Scalar(int64_t);
  Scalar(double);
};
class IntArrayRef {
 public:
  IntArrayRef(std::initializer_list<int64_t>);
  const int64_t& operator[](size_t) const;
  bool operator==(const IntArrayRef&) const;
};
}  // namespace c10

namespace torch {
using c10::IntArrayRef;
using c10::Scalar;
const c10::Dtype kFloat, kBFloat16, kHalf, kInt, kChar, kShort, kByte;

template <bool read_only>
class TensorTcmAccessor {
 public:
  template <typename T>
  void tensor_to_tcm(T* tcm_ptr, size_t tensor_offset, size_t num_elem);
  template <typename T>
  void tcm_to_tensor(T* tcm_ptr, size_t tensor_offset, size_t num_elem);
};

class Tensor {
 public:
  Tensor(const Tensor&);
  Tensor(Tensor&&);
  Tensor& operator=(const Tensor& x) &;
  Tensor& operator=(Tensor&& x) &;
  TensorTcmAccessor<true> tcm_accessor() const&;
  TensorTcmAccessor<false> tcm_accessor() &;
  Tensor& fill_(const Scalar& value) const;
  int64_t numel() const;
  IntArrayRef sizes() const;
  int64_t size(int64_t dimension) const;
  int64_t dim() const;
};

Tensor empty(IntArrayRef size, c10::TensorOptions options);
Tensor full(IntArrayRef size, const Scalar& fill_value, c10::TensorOptions options);
Tensor zeros(IntArrayRef size, c10::TensorOptions options);
Tensor ones(IntArrayRef size, c10::TensorOptions options);

namespace neuron {
void* tcm_malloc(size_t nbytes);
void tcm_free(void* ptr);
}  // namespace neuron
}  // namespace torch

torch::Tensor get_dst_tensor();
