// SPDX-License-Identifier: Apache-2.0
//
// What generated wrappers call: arguments in, result out. Unaware of which operator runs and on which stack.
// Facts: spec customop-abi.md §5-§7, texts of §11.
#include <neuron/wrapper_api.h>

#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "nx_registers.h"
#include "scratch_map.h"
#include "special_registers.h"

#define OUT_OF_LINE_TEXT \
  "t_.framework_shape_type != NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE_OUT_OF_LINE_SHAPE"
#define NOT_A_SCALAR_TEXT "\"Cannot create an at::Scalar. Argument has more than 1 element\""

namespace {

ArgParser arg_parser;
bool get_dst_tensor_called;
const NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR* retval;

/// The only reader of the instruction stream: calls `take` with every payload of the current dispatch, up to the first block
/// that is none (spec customop-abi.md C-9), acknowledging each.
template <typename Take>
void rd_args_from_insns(Take take) {
  NEURON_ISA_TPB_CUSTOM_OP_PAYLOAD block;
  static_assert(sizeof(block) % sizeof(unsigned int) == 0, "blocks arrive as words");
  while (read_local_ureg32(INSN_AVAIL) != 0) {
    unsigned int words[sizeof(block) / sizeof(unsigned int)];
    for (unsigned int& word : words) word = read_local_ureg32(INSN_DATA);
    memcpy(&block, words, sizeof(block));
    if (block.opcode == OPCODE_CUSTOM_OP_HEADER) continue;
    if (block.opcode != OPCODE_CUSTOM_OP_PAYLOAD) break;
    take(block);
    write_local_ureg32(INSN_RESPOND, TPB_WRITE_RESPONSE);
  }
}

/// Dimensions up to the first zero, outermost first; returns the rank.
size_t shape_of(const NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR& t, int64_t (&dims)[8]) {
  size_t rank = 0;
  if (t.framework_shape_type == NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE_INLINE_SHAPE4D) {
    while (rank < 4 && t.framework_shape.inline_shape4d[rank] != 0) {
      dims[rank] = t.framework_shape.inline_shape4d[rank];
      ++rank;
    }
  } else {
    while (rank < 8 && t.framework_shape.inline_shape8d[rank] != 0) {
      dims[rank] = t.framework_shape.inline_shape8d[rank];
      ++rank;
    }
  }
  return rank;
}

/// Bytes that the described tensor covers.
unsigned long long bytes_of(const NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR& t) {
  int64_t dims[8];
  const size_t rank = shape_of(t, dims);
  unsigned long long bytes = c10::elementSize(isa_to_torch_dtype(t.dtype));
  for (size_t d = 0; d < rank; ++d) bytes *= static_cast<unsigned long long>(dims[d]);
  return bytes;
}

}  // namespace

c10::ScalarType isa_to_torch_dtype(NEURON_ISA_TPB_DTYPE dtype) {
  switch (dtype) {
    case NEURON_ISA_TPB_DTYPE_INT8:
      return c10::ScalarType::Char;
    case NEURON_ISA_TPB_DTYPE_UINT8:
      return c10::ScalarType::Byte;
    case NEURON_ISA_TPB_DTYPE_INT16:
      return c10::ScalarType::Short;
    case NEURON_ISA_TPB_DTYPE_BFLOAT16:
      return c10::ScalarType::BFloat16;
    case NEURON_ISA_TPB_DTYPE_FP16:
      return c10::ScalarType::Half;
    case NEURON_ISA_TPB_DTYPE_INT32:
      return c10::ScalarType::Int;
    case NEURON_ISA_TPB_DTYPE_FP32:
      return c10::ScalarType::Float;
    case NEURON_ISA_TPB_DTYPE_INT64:
      return c10::ScalarType::Long;
  }
  _Assert("utypes.hpp:37 0", 0);
}

void ArgExtractor::add(const NEURON_ISA_TPB_CUSTOM_OP_PAYLOAD& payload) {
  NEURON_REFERENCE_ASSERT(num_args_ < max_args_, "arg_extractor.hpp:16 num_args < max_args_");
  args_[num_args_] = payload.arg;
  arg_types_[num_args_] = payload.arg_type;
  ++num_args_;
}

void ArgParser::rebuild(size_t first_input) {
  isa_args.clear();
  curr_arg_ = first_input;
  rd_args_from_insns([this](const NEURON_ISA_TPB_CUSTOM_OP_PAYLOAD& payload) { isa_args.add(payload); });
}

const NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR& ArgParser::at(size_t index) {
  NEURON_REFERENCE_ASSERT(index < isa_args.get_num(), "arg_parser.hpp:66 curr_arg_ < isa_args.get_num()");
  NEURON_REFERENCE_ASSERT(
      isa_args.get_types()[index] == NEURON_ISA_TPB_CUSTOM_OP_ARG_TYPE_TENSOR,
      "arg_parser.hpp:67 isa_args.get_types()[curr_arg_] == NEURON_ISA_TPB_CUSTOM_OP_ARG_TYPE_TENSOR");
  return isa_args.get_args()[index];
}

UTensor::UTensor(const NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR& descriptor) : t_(descriptor) {
  switch (t_.location) {
    case NEURON_ISA_TPB_CUSTOM_OP_TENSOR_LOCATION_HBM:
      xt_ptr_ = t_.storage.hbm.addr;
      break;
    case NEURON_ISA_TPB_CUSTOM_OP_TENSOR_LOCATION_SBUF:
      xt_ptr_ = _sbuf_window + t_.storage.tpb.addr;
      break;
    default:
      _Assert("utypes.hpp:59 0", 0);
  }
}

UTensor::operator at::Tensor() const {
  NEURON_REFERENCE_ASSERT(t_.framework_shape_type != NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE_OUT_OF_LINE_SHAPE,
                          "utypes.hpp:94 " OUT_OF_LINE_TEXT);
  int64_t dims[8];
  const size_t num_dim = shape_of(t_, dims);
  NEURON_REFERENCE_ASSERT(num_dim != 0,
                          "utypes.hpp:139 num_dim != 0 && \"Input and output tensors cannot have 0 dimensions - must be of at "
                          "least rank 1\"");
  const at::Tensor tensor = at::detail::make_borrowed_tensor(c10::Q7PtrType(xt_ptr_), c10::IntArrayRef(dims, num_dim),
                                                             isa_to_torch_dtype(t_.dtype));
  TORCH_CHECK(t_.location != NEURON_ISA_TPB_CUSTOM_OP_TENSOR_LOCATION_HBM || tensor.numel() == t_.storage.hbm.num_elem,
              "argument descriptor: the shape has ", tensor.numel(), " elements, num_elem says ", t_.storage.hbm.num_elem);
  return tensor;
}

UTensor::operator c10::Scalar() const {
  NEURON_REFERENCE_ASSERT(t_.framework_shape_type != NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE_OUT_OF_LINE_SHAPE,
                          "utypes.hpp:167 " OUT_OF_LINE_TEXT);
  if (t_.framework_shape_type == NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE_INLINE_SHAPE4D) {
    const unsigned int* const nelem_u32 = t_.framework_shape.inline_shape4d;
    NEURON_REFERENCE_ASSERT(nelem_u32[0] <= 1, "utypes.hpp:172 nelem_u32[i] == 0 && " NOT_A_SCALAR_TEXT);
    for (size_t i = 1; i < 4; ++i) {
      NEURON_REFERENCE_ASSERT(nelem_u32[i] == 0, "utypes.hpp:172 nelem_u32[i] == 0 && " NOT_A_SCALAR_TEXT);
    }
  } else {
    const uint16_t* const nelem_u16 = t_.framework_shape.inline_shape8d;
    NEURON_REFERENCE_ASSERT(nelem_u16[0] <= 1, "utypes.hpp:178 nelem_u16[i] == 0 && " NOT_A_SCALAR_TEXT);
    for (size_t i = 1; i < 8; ++i) {
      NEURON_REFERENCE_ASSERT(nelem_u16[i] == 0, "utypes.hpp:178 nelem_u16[i] == 0 && " NOT_A_SCALAR_TEXT);
    }
  }
  switch (isa_to_torch_dtype(t_.dtype)) {
    case c10::ScalarType::Float:
      return c10::Scalar(load<float>());
    case c10::ScalarType::Half:
      return c10::Scalar(load<c10::Half>());
    case c10::ScalarType::BFloat16:
      return c10::Scalar(load<c10::BFloat16>());
    case c10::ScalarType::Byte:
      return c10::Scalar(static_cast<long long>(load<uint8_t>()));
    case c10::ScalarType::Char:
      return c10::Scalar(static_cast<long long>(load<int8_t>()));
    case c10::ScalarType::Short:
      return c10::Scalar(static_cast<long long>(load<int16_t>()));
    case c10::ScalarType::Int:
      return c10::Scalar(static_cast<long long>(load<int32_t>()));
    default:
      return c10::Scalar(load<long long>());
  }
}

void UTensor::copy(const at::Tensor& aten_t) {
  NEURON_REFERENCE_ASSERT(xt_ptr_ != 0, "utypes.hpp:64 xt_ptr_");
  NEURON_REFERENCE_ASSERT(aten_t.dtype().toScalarType() == isa_to_torch_dtype(t_.dtype),
                          "utypes.hpp:65 aten_t.dtype().toScalarType() == isa_to_torch_dtype(t_.dtype)");
  const unsigned long long bytes = bytes_of(t_);
  TORCH_CHECK(aten_t.nbytes() == bytes, "the kernel's result has ", aten_t.nbytes(), " bytes, the output needs ", bytes);
  int64_t dims[8];
  TORCH_CHECK(aten_t.sizes() == c10::IntArrayRef(dims, shape_of(t_, dims)) && aten_t.is_contiguous(),
              "the kernel's result has another shape or order than the output");

  size_t buffer_bytes = 0;
  int ret = neuron_dataram_max_free_space(&buffer_bytes);
  NEURON_REFERENCE_ASSERT(ret == 0, "utypes.hpp:73 ret == 0");
  NEURON_REFERENCE_ASSERT(buffer_bytes > 0, "utypes.hpp:74 buffer_bytes > 0");
  void* bounce = nullptr;
  ret = neuron_dataram_allocate(buffer_bytes, &bounce);
  NEURON_REFERENCE_ASSERT(ret == 0, "utypes.hpp:77 ret == 0");
  const unsigned long long source = aten_t.q7_data_ptr().hbm_addr;
  for (unsigned long long offset = 0; offset < bytes;) {
    const size_t chunk = bytes - offset < buffer_bytes ? static_cast<size_t>(bytes - offset) : buffer_bytes;
    neuron_memcpy(bounce, source + offset, chunk);
    neuron_memcpy(xt_ptr_ + offset, bounce, chunk);
    offset += chunk;
  }
  ret = neuron_dataram_deallocate(bounce);
  NEURON_REFERENCE_ASSERT(ret == 0, "utypes.hpp:89 ret == 0");
}

void customop_setup(bool hasReturn) {
  init_dma_queue();
  get_dst_tensor_called = false;
  arg_parser.rebuild(hasReturn ? 1 : 0);
  retval = hasReturn ? &arg_parser.at(0) : nullptr;
}

at::Tensor customop_next_tensor() { return arg_parser.next_ucode_arg<UTensor>(); }

c10::Scalar customop_next_scalar() { return arg_parser.next_ucode_arg<UTensor>(); }

int customop_next_int() { return arg_parser.next_ucode_arg<UTensor>().load<int>(); }

long long customop_next_longlong() { return arg_parser.next_ucode_arg<UTensor>().load<long long>(); }

float customop_next_float() { return arg_parser.next_ucode_arg<UTensor>().load<float>(); }

at::Tensor get_dst_tensor() {
  get_dst_tensor_called = true;
  return UTensor(*retval);
}

void customop_return_tensor(at::Tensor& result) {
  if (!get_dst_tensor_called) UTensor(*retval).copy(result);
}

void customop_cleanup() {
  fsync(2);
  fsync(1);
  memory_barrier();
}
