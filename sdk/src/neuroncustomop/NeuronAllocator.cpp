// SPDX-License-Identifier: Apache-2.0
//
// The one tensor allocator. Facts: spec device-runtime.md §4.4.
#include <neuron_torch_extension/NeuronAllocator.h>

namespace c10 {

static NeuronAllocator _neuron_alloc;

NeuronAllocator* GetNeuronAllocator() { return &_neuron_alloc; }

}  // namespace c10
