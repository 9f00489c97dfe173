// SPDX-License-Identifier: Apache-2.0
//
// Which core this is. Facts: spec customop-abi.md §2.3.
#include <neuron/neuron-utils.hpp>

#include "special_registers.h"

/// The device library version that images of this SDK report (spec customop-abi.md §1.1).
extern const char SUNDA_UCODE_LIB_VERSION_STR[] = "1.21.1.0";

namespace {

struct CpuId {
  unsigned int value;
  // A constructor, so that the register is read once, before any kernel.
  CpuId() : value(read_prid()) {}
};

CpuId cpu_id;

}  // namespace

unsigned int get_cpu_id() { return cpu_id.value; }

unsigned int get_cpu_count() { return 8; }
