// Functions of every kind that a reader of signatures must tell apart.
#include <stdint.h>

namespace at {
class Tensor {
 public:
  Tensor(const Tensor& other);
  int64_t numel() const;
  static Tensor like(const Tensor& other);
  void* impl;
};
}  // namespace at
namespace c10 {
class Scalar {
 public:
  double value;
};
}  // namespace c10
namespace at {
using c10::Scalar;
}
namespace torch {
using at::Scalar;
using at::Tensor;
}  // namespace torch

at::Tensor at::Tensor::like(const Tensor& other) { return other; }
int64_t at::Tensor::numel() const { return impl != nullptr; }

torch::Tensor scale(const torch::Tensor& t_in, double by, int64_t n) { return by > n ? t_in : t_in; }
torch::Tensor scale(const torch::Tensor& t_in) { return t_in; }
torch::Tensor by_value(torch::Tensor x, torch::Tensor& y, const torch::Scalar& a, torch::Scalar b) {
  return a.value > b.value ? x : y;
}
torch::Tensor numbers(const torch::Tensor& x, int a, long b, long long c, float d, const int e, bool f, unsigned g,
                      uint8_t h, int32_t) {
  return x;
}
void nothing() {}
const torch::Tensor& borrowed(const torch::Tensor& x) { return x; }

static torch::Tensor inlined(const torch::Tensor& x) { return x; }
__attribute__((noinline)) static torch::Tensor kept(const torch::Tensor& x) { return x; }
namespace {
__attribute__((noinline)) torch::Tensor anonymous(const torch::Tensor& x) { return x; }
}  // namespace
namespace my {
namespace team {
torch::Tensor nested(const torch::Tensor& x);
}
torch::Tensor uses(const torch::Tensor& x) { return inlined(kept(anonymous(x))); }
}  // namespace my
torch::Tensor my::team::nested(const torch::Tensor& x) { return x; }

inline torch::Tensor never_called(const torch::Tensor& x) { return x; }
__attribute__((noinline)) inline torch::Tensor weak(const torch::Tensor& x) { return x; }
torch::Tensor calls_weak(const torch::Tensor& x) { return weak(x); }
template <typename T>
T generic(T x) {
  return x;
}
template int generic<int>(int);
extern "C" int plain(const float* p, int many[], int (*call)(int, float), const char* const name, ...) {
  return p != nullptr && many != nullptr && call != nullptr && name != nullptr;
}
torch::Tensor declared_only(const torch::Tensor& x);
