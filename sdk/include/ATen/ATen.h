// SPDX-License-Identifier: Apache-2.0
//
// Not documented for kernels, yet one published kernel began with it (spec user-api.md §2).
#pragma once

#include <torch/torch.h>
