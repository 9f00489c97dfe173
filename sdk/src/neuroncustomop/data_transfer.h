// SPDX-License-Identifier: Apache-2.0
//
// The transfer back ends behind neuron_memcpy; kernels have no business here. Facts: spec device-runtime.md §13.
#pragma once

#include <stddef.h>

/// The SoC address of a core-local address of this core.
unsigned long long dram_addr_to_soc_addr(unsigned int dram_addr);

/// Copies `n` bytes between `local` and SoC address `soc`, into local memory when `to_local`: byte by byte, by words, and by
/// the SDMA engine (core-local memory only).
void c_memcpy_data_transfer(void* local, unsigned long long soc, bool to_local, size_t n);
void vec_memcpy_data_transfer(void* local, unsigned long long soc, bool to_local, size_t n);
void dma_data_transfer(void* local, unsigned long long soc, bool to_local, size_t n);
/// What the first two share.
void memcpy_data_transfer_impl(char* local, unsigned long long soc, bool to_local, size_t n, bool wide);
