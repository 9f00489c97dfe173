// SPDX-License-Identifier: Apache-2.0
//
// The register block and windows in a core's local (NX) address space. Facts: spec device-runtime.md §9.
#pragma once

#include <stdint.h>

constexpr uintptr_t ENGINE_BASE_ADDR_LO = 0x100028;
constexpr uintptr_t MEM_WINDOW0_LO = 0x100200;
constexpr uintptr_t MEM_WINDOW3_LO = 0x100218;
constexpr uintptr_t MEM_WINDOW5_LO = 0x100228;
constexpr uintptr_t MEM_WINDOW6_LO = 0x100230;

/// The instruction stream of the current dispatch (our choice of reserved words, spec customop-abi.md Q-2).
constexpr uintptr_t INSN_AVAIL = 0x100840;    ///< read: 64-byte blocks left
constexpr uintptr_t INSN_DATA = 0x100844;     ///< read: pops the next little-endian word
constexpr uintptr_t INSN_RESPOND = 0x100848;  ///< write: acknowledges a payload
constexpr unsigned int TPB_WRITE_RESPONSE = 1;

/// Local addresses where windows appear.
constexpr unsigned int APB_APERTURE = 0x04000000;
constexpr unsigned int DYNAMIC_WINDOWS[3] = {0x07000000, 0x09000000, 0x0A000000};
constexpr unsigned int SBUF_APERTURE = 0x80000000;
constexpr unsigned int HBM_SCRATCH_APERTURE = 0x84000000;

/// What MEM_WINDOW0 must hold for the SDMA registers to be reachable.
constexpr unsigned long long SUNDA_APB_BASE = 0xFFFF0000000ull;
/// SBUF lies this far below the engine's base.
constexpr unsigned long long SBUF_BELOW_ENGINE = 0x2900000;

inline unsigned int read_local_ureg32(uintptr_t reg) { return *reinterpret_cast<volatile unsigned int*>(reg); }
inline void write_local_ureg32(uintptr_t reg, unsigned int value) { *reinterpret_cast<volatile unsigned int*>(reg) = value; }
/// A register pair: low word at `reg`, high word at `reg + 4`.
inline unsigned long long read_local_ureg64(uintptr_t reg) {
  return read_local_ureg32(reg) | static_cast<unsigned long long>(read_local_ureg32(reg + 4)) << 32;
}
