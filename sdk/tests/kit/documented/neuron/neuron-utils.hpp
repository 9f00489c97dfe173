// SPDX-License-Identifier: Apache-2.0
//
// The documented declarations of this header and nothing else (user-api.md §2, §7): what the kit may rely on.
#pragma once
#include <stdint.h>
uint32_t get_cpu_id();
uint32_t get_cpu_count();
