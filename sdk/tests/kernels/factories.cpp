// SPDX-License-Identifier: Apache-2.0
//
// Conformance: user-api.md §4 and the _like forms, one kernel a row. The element type is x's, so that one kernel serves all.

#include <torch/torch.h>

torch::Tensor t_empty(const torch::Tensor& x) {
  torch::Tensor r = torch::empty(x.sizes(), x.dtype());
  auto from = x.tcm_accessor();
  auto to = r.tcm_accessor();
  uint8_t byte = 0;
  for (size_t i = 0; i < x.nbytes(); ++i) {
    from.tensor_to_tcm<uint8_t>(&byte, i, 1);
    to.tcm_to_tensor<uint8_t>(&byte, i, 1);
  }
  return r;
}

torch::Tensor t_full(const torch::Tensor& x, const torch::Scalar& value) {
  return torch::full(x.sizes(), value, x.dtype());
}

torch::Tensor t_zeros(const torch::Tensor& x) { return torch::zeros(x.sizes(), x.dtype()); }

torch::Tensor t_ones(const torch::Tensor& x) { return torch::ones(x.sizes(), torch::TensorOptions().dtype(x.dtype())); }

torch::Tensor t_eye(const torch::Tensor& x) { return torch::eye(x.size(0), x.size(1), x.options()); }

torch::Tensor t_empty_like(const torch::Tensor& x) {
  torch::Tensor r = at::empty_like(x);
  r.fill_(7);
  return r;
}

torch::Tensor t_zeros_like(const torch::Tensor& x) { return at::zeros_like(x); }

torch::Tensor t_fill(const torch::Tensor& x, const torch::Scalar& value) {
  torch::Tensor r = torch::empty(x.sizes(), x.dtype());
  torch::Tensor& same = r.fill_(value);
  assert(&same == &r);
  return r;
}

// {size_t} in a shape (user-api.md §8.1), mixed integer types, and an IntArrayRef made from an array.
torch::Tensor t_braced_shapes(const torch::Tensor& x) {
  size_t num_elem = static_cast<size_t>(x.numel());
  torch::Tensor a = torch::zeros({num_elem}, torch::kFloat);
  torch::Tensor b = torch::zeros({num_elem, 1}, torch::kFloat);
  int64_t extents[] = {1, x.numel()};
  torch::Tensor c = torch::ones(torch::IntArrayRef(extents), torch::kFloat);
  const bool equal = a.sizes() == torch::IntArrayRef({num_elem}) && b.sizes() != a.sizes() && c.size(1) == a.size(0);
  torch::Tensor r = torch::empty({4}, torch::kInt);
  auto out = r.accessor<int32_t, 1>();
  out[0] = equal;
  out[1] = static_cast<int>(a.dim());
  out[2] = static_cast<int>(b.dim());
  out[3] = static_cast<int>(c.numel());
  return r;
}

// No element cannot travel, but a kernel may make such tensors on the way: [numel, dim, numel of a sum, numel of zeros].
torch::Tensor t_no_elements(const torch::Tensor& x) {
  torch::Tensor none = torch::full({0, 3}, 5, x.dtype());
  torch::Tensor sum = torch::add(none, none);
  torch::Tensor r = torch::empty({4}, torch::kInt);
  auto out = r.accessor<int32_t, 1>();
  out[0] = static_cast<int>(none.numel());
  out[1] = static_cast<int>(none.dim());
  out[2] = static_cast<int>(sum.numel());
  out[3] = static_cast<int>(torch::zeros({2, 0}, torch::kHalf).numel());
  return r;
}
