// SPDX-License-Identifier: Apache-2.0
// expect: discards qualifiers
#include <torch/torch.h>
void f(const torch::Tensor& x) { auto out = x.write_stream_accessor<float>(); }
