// SPDX-License-Identifier: Apache-2.0
//
// The wire form of an operator's arguments: 64-byte instruction blocks, one 48-byte tensor descriptor in each payload, and
// the containers that hold a call's descriptors. Facts: spec customop-abi.md §5.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <stddef.h>
#include <stdint.h>

constexpr unsigned char OPCODE_CUSTOM_OP_HEADER = 0x85;
constexpr unsigned char OPCODE_CUSTOM_OP_PAYLOAD = 0x86;

enum NEURON_ISA_TPB_CUSTOM_OP_ARG_TYPE : uint8_t {
  NEURON_ISA_TPB_CUSTOM_OP_ARG_TYPE_INVALID = 0,
  NEURON_ISA_TPB_CUSTOM_OP_ARG_TYPE_TENSOR = 1,
  NEURON_ISA_TPB_CUSTOM_OP_ARG_TYPE_ARRAY_OF_TENSOR = 2,
};

enum NEURON_ISA_TPB_CUSTOM_OP_TENSOR_LOCATION : uint8_t {
  NEURON_ISA_TPB_CUSTOM_OP_TENSOR_LOCATION_INVALID = 0,
  NEURON_ISA_TPB_CUSTOM_OP_TENSOR_LOCATION_SBUF = 1,
  NEURON_ISA_TPB_CUSTOM_OP_TENSOR_LOCATION_HBM = 2,
};

enum NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE : uint8_t {
  NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE_INLINE_SHAPE8D = 0,
  NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE_OUT_OF_LINE_SHAPE = 1,
  NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE_INLINE_SHAPE4D = 2,
};

/// Element type codes; the device takes eight of the sixteen.
enum NEURON_ISA_TPB_DTYPE : uint8_t {
  NEURON_ISA_TPB_DTYPE_INT8 = 0x2,
  NEURON_ISA_TPB_DTYPE_UINT8 = 0x3,
  NEURON_ISA_TPB_DTYPE_INT16 = 0x4,
  NEURON_ISA_TPB_DTYPE_BFLOAT16 = 0x6,
  NEURON_ISA_TPB_DTYPE_FP16 = 0x7,
  NEURON_ISA_TPB_DTYPE_INT32 = 0x8,
  NEURON_ISA_TPB_DTYPE_FP32 = 0xA,
  NEURON_ISA_TPB_DTYPE_INT64 = 0xC,
};

struct NEURON_ISA_TPB_CUSTOM_OP_HBM_TENSOR_STORAGE_DESC {
  unsigned long long addr;
  unsigned int num_elem;
  unsigned int reserved0;
};

struct NEURON_ISA_TPB_CUSTOM_OP_TPB_TENSOR_STORAGE_DESC {
  unsigned int addr;  // relative to the SBUF window
  unsigned int num_elem;
  uint8_t num_partitions;
  uint8_t reserved0[3];
  unsigned int num_elem_per_block;
};

/// One argument: where it is, its shape (outermost first, unused trailing dimensions 0) and its element type.
struct NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR {
  NEURON_ISA_TPB_CUSTOM_OP_TENSOR_LOCATION location;
  NEURON_ISA_TPB_CUSTOM_OP_TENSOR_SHAPE_TYPE framework_shape_type;
  NEURON_ISA_TPB_DTYPE dtype;
  uint8_t reserved0[5];
  union {
    uint16_t inline_shape8d[8];
    unsigned int inline_shape4d[4];
    unsigned long long out_of_line_shape_addr;
  } framework_shape;
  union {
    NEURON_ISA_TPB_CUSTOM_OP_HBM_TENSOR_STORAGE_DESC hbm;
    NEURON_ISA_TPB_CUSTOM_OP_TPB_TENSOR_STORAGE_DESC tpb;
  } storage;
  uint8_t reserved1[8];
};

/// A payload block as 16 words arrive from the instruction stream.
struct NEURON_ISA_TPB_CUSTOM_OP_PAYLOAD {
  uint8_t opcode;
  uint8_t length_dwords;
  uint8_t events[10];
  uint8_t reserved0[3];
  NEURON_ISA_TPB_CUSTOM_OP_ARG_TYPE arg_type;
  NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR arg;
};

/// The descriptors of one call, output included.
class ArgExtractor {
 public:
  static constexpr size_t CAPACITY = 10;

  size_t get_num() const { return num_args_; }
  NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR* get_args() { return args_; }
  const NEURON_ISA_TPB_CUSTOM_OP_ARG_TYPE* get_types() const { return arg_types_; }
  /// Forgets the previous call.
  void clear() { num_args_ = 0; }
  /// Appends a descriptor; aborts on the eleventh.
  void add(const NEURON_ISA_TPB_CUSTOM_OP_PAYLOAD& payload);

 private:
  size_t num_args_ = 0;
  const size_t max_args_ = CAPACITY;
  NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR args_[CAPACITY] = {};
  NEURON_ISA_TPB_CUSTOM_OP_ARG_TYPE arg_types_[CAPACITY] = {};
};

/// A descriptor with its address resolved, convertible to what a kernel parameter needs.
class UTensor {
 public:
  explicit UTensor(const NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR& descriptor);

  /// A tensor over the described memory, which stays the host's. Aborts on an out-of-line shape or rank 0.
  operator at::Tensor() const;
  /// The value of a one-element tensor. Aborts on an out-of-line shape or more than one element.
  operator c10::Scalar() const;
  /// Writes `aten_t`'s storage bytes over the described memory. Aborts when element types differ.
  void copy(const at::Tensor& aten_t);
  /// The first bytes of the described memory as a `T`, whatever the element type.
  template <typename T>
  T load() const {
    return *static_cast<const T*>(neuron_translate(neuron_translate_ctx(), xt_ptr_));
  }

 private:
  unsigned long long xt_ptr_;
  NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR t_;
};

/// Hands out a call's arguments in order.
class ArgParser {
 public:
  /// Reads the descriptors of the current dispatch. The next argument handed out is number `first_input`.
  void rebuild(size_t first_input);
  /// Descriptor `index`; aborts when there is none or it is not a tensor's.
  const NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR& at(size_t index);
  template <typename T>
  T next_ucode_arg() {
    const T arg(at(curr_arg_));
    ++curr_arg_;
    return arg;
  }

 private:
  ArgExtractor isa_args;
  size_t curr_arg_ = 0;
};

static_assert(sizeof(NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR) == 48 && sizeof(NEURON_ISA_TPB_CUSTOM_OP_PAYLOAD) == 64,
              "spec customop-abi.md §5.1, §5.2");
static_assert(offsetof(NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR, framework_shape) == 0x08 &&
                  offsetof(NEURON_ISA_TPB_CUSTOM_OP_ARG_TENSOR, storage) == 0x18 &&
                  offsetof(NEURON_ISA_TPB_CUSTOM_OP_PAYLOAD, arg_type) == 15,
              "spec customop-abi.md §5.1, §5.2");
static_assert(sizeof(ArgExtractor) == 504 && sizeof(ArgParser) == 512 && sizeof(UTensor) == 56, "spec customop-abi.md §5.5");

/// The element type of an ISA code; aborts for the eight that the device does not take.
c10::ScalarType isa_to_torch_dtype(NEURON_ISA_TPB_DTYPE dtype);
