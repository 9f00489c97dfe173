// SPDX-License-Identifier: Apache-2.0
//
// Everything a custom operator's kernel may use.
#pragma once

#include <torch/torch.h>

#include <neuron/custom_op.h>
#include <neuron/neuron-utils.hpp>
