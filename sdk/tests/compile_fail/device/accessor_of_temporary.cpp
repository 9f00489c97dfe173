// SPDX-License-Identifier: Apache-2.0
// expect: use of deleted function
#include <torch/torch.h>
void f() { auto elements = get_dst_tensor().accessor<float, 1>(); }
