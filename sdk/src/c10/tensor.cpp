// SPDX-License-Identifier: Apache-2.0
//
// Tensor handles: creation, checks that need words, and the refusals. Facts: spec device-runtime.md §5 and §6.4.
#include <ATen/core/Tensor.h>
#include <neuron_torch_extension/NeuronAllocator.h>

namespace at {

void TensorBase::undefined() { TORCH_CHECK(false, "this tensor is not defined: nothing has been assigned to it"); }

size_t TensorBase::wrap_dim(int64_t d) const {
  const int64_t rank = dim();
  TORCH_CHECK(d >= -rank && d < rank, "Dimension out of range (expected to be in range of [", -rank, ", ", rank - 1, "], but got ",
              d, ")");
  return static_cast<size_t>(d < 0 ? d + rank : d);
}

void TensorBase::check_accessor(size_t rank, size_t element_bytes) const {
  TORCH_CHECK(static_cast<size_t>(dim()) == rank, "TensorAccessor expected ", rank, " dims but tensor has ", dim());
  check_element_size(element_bytes);
}

void TensorBase::check_element_size(size_t element_bytes) const {
  TORCH_CHECK(itemsize() == element_bytes, "accessor expected elements of ", element_bytes, " bytes but tensor of dtype ",
              c10::toString(scalar_type()), " has ", itemsize());
}

namespace detail {

void stream_past_end(size_t elements) { TORCH_CHECK(false, "a stream over ", elements, " elements was used past its end"); }

void stream_is_closed() {}

namespace {

Tensor make(c10::UniqueQ7Ptr data, size_t nbytes, c10::IntArrayRef sizes, c10::ScalarType dtype) {
  c10::intrusive_ptr<c10::NeuronStorageImpl> storage(new c10::NeuronStorageImpl(nbytes, static_cast<c10::UniqueQ7Ptr&&>(data)));
  c10::intrusive_ptr<c10::NeuronTensorImpl> impl(new c10::NeuronTensorImpl(storage, dtype));
  impl->set_sizes_contiguous(sizes);
  return Tensor(impl);
}

}  // namespace

Tensor make_tensor(c10::IntArrayRef sizes, c10::ScalarType dtype) {
  const size_t itemsize = c10::elementSize(dtype);
  TORCH_CHECK(itemsize != 0, "Invalid datatype. Note that complex scalars and qints are not supported");
  unsigned long long nbytes = itemsize;
  for (const int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "a tensor cannot have negative size ", size);
    TORCH_CHECK(!__builtin_mul_overflow(nbytes, static_cast<unsigned long long>(size), &nbytes) && nbytes <= 0xFFFFFFFFu,
                "a tensor of this shape has more than 4 GiB");
  }
  // The heap serves no empty block; an empty tensor owns a single byte of it.
  return make(c10::GetNeuronAllocator()->allocate(nbytes == 0 ? 1 : static_cast<size_t>(nbytes)), static_cast<size_t>(nbytes), sizes,
              dtype);
}

Tensor make_borrowed_tensor(c10::Q7PtrType data, c10::IntArrayRef sizes, c10::ScalarType dtype) {
  unsigned long long nbytes = c10::elementSize(dtype);
  for (const int64_t size : sizes) nbytes *= static_cast<unsigned long long>(size);
  return make(c10::UniqueQ7Ptr(data), static_cast<size_t>(nbytes), sizes, dtype);
}

}  // namespace detail
}  // namespace at
