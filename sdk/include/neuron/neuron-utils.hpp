// SPDX-License-Identifier: Apache-2.0
//
// Which of the eight cores runs this code. Facts: spec customop-abi.md §2.3, user-api.md §7.
#pragma once

#include <stdint.h>

/// This core's number, 0 <= id < get_cpu_count().
unsigned int get_cpu_id();
/// Number of GPSIMD cores: 8, in a single-core build too.
unsigned int get_cpu_count();
