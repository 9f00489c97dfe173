// SPDX-License-Identifier: Apache-2.0
//
// The reference's name for the operators' header.
#pragma once

#include <ATen/ops.h>
