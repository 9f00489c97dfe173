// SPDX-License-Identifier: Apache-2.0
//
// negate_stream: y = -x for a tensor of any shape, element after element through streams. A stream keeps 4 KiB of the
// tensor in the core's own memory, so reading on is cheap; it goes forward only.
//
// Schema: my::negate_stream(Tensor x) -> (Tensor y)
// Build:  gpsimd-build compile negate_stream.cpp

#include <torch/torch.h>

torch::Tensor negate_stream(const torch::Tensor& x) {
    torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
    auto in = x.read_stream_accessor<float>();
    auto out = y.write_stream_accessor<float>();
    for (int64_t i = 0; i < x.numel(); ++i)
        out.write(-in.read());
    out.close();  // now everything is in y; leaving the scope would have done the same
    in.close();
    return y;
}
