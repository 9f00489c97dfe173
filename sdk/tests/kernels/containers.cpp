// SPDX-License-Identifier: Apache-2.0
//
// Conformance: the standard headers that kernels use work on the device (sort, vector, array, cmath, string formatting).

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

// x sorted ascending, through a std::vector on the libc heap (at most 10 KiB).
torch::Tensor t_sort(const torch::Tensor& x) {
  std::vector<float> values(static_cast<size_t>(x.numel()));
  auto in = x.read_stream_accessor<float>();
  for (float& v : values) v = in.read();
  in.close();
  std::sort(values.begin(), values.end());
  torch::Tensor y = torch::empty_like(x);
  auto out = y.write_stream_accessor<float>();
  for (float v : values) out.write(v);
  out.close();
  return y;
}

// [min, max, sum, sqrt(x[0]), hypot(3, 4)]
torch::Tensor t_statistics(const torch::Tensor& x) {
  std::array<float, 8> values{};
  auto in = x.accessor<float, 1>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = in[static_cast<int64_t>(i)];
  torch::Tensor y = torch::empty({5}, torch::kFloat);
  auto out = y.accessor<float, 1>();
  out[0] = *std::min_element(values.begin(), values.end());
  out[1] = *std::max_element(values.begin(), values.end());
  out[2] = std::accumulate(values.begin(), values.end(), 0.0f);
  out[3] = std::sqrt(values[0]);
  out[4] = std::hypot(3.0f, 4.0f);
  return y;
}
