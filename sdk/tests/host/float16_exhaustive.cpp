// SPDX-License-Identifier: Apache-2.0
//
// Half and BFloat16 against the compiler's own types and against a search that shares no code with the headers:
// all 65,536 encodings widened, and the float around every tie between neighbours narrowed. Prints the number of
// comparisons; the first difference stops it with exit code 1.

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace {

unsigned long comparisons;

uint32_t bits_of(float f) {
  uint32_t b;
  std::memcpy(&b, &f, sizeof b);
  return b;
}
float float_of(uint32_t b) {
  float f;
  std::memcpy(&f, &b, sizeof f);
  return f;
}

void same(const char *what, uint32_t input, uint32_t got, uint32_t want) {
  ++comparisons;
  if (got == want)
    return;
  std::printf("%s of %#x: %#x, expected %#x\n", what, input, got, want);
  std::exit(1);
}

// The definition of rounding, by value: compare distances to both neighbours in double, where all of this is exact.
template <typename T>
uint16_t nearest_even(float f, uint16_t infinity) {
  const uint16_t sign = std::signbit(f) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(f));
  uint16_t low = 0, high = infinity;
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (static_cast<double>(static_cast<float>(T(middle, T::from_bits()))) <= magnitude ? low : high) = middle;
  }
  const double below = static_cast<float>(T(low, T::from_bits()));
  // Where infinity is the upper neighbour, the rule compares with the value that would follow the largest.
  const double above = high == infinity
                           ? 2 * below - static_cast<float>(T(static_cast<uint16_t>(low - 1), T::from_bits()))
                           : static_cast<float>(T(high, T::from_bits()));
  const double down = magnitude - below, up = above - magnitude;
  if (std::isinf(magnitude))
    return static_cast<uint16_t>(sign | infinity);
  const bool takes_low = down < up || (down == up && low % 2 == 0);
  return static_cast<uint16_t>(sign | (takes_low ? low : high));
}

uint16_t to_half(float f) { return c10::Half(f).x; }
uint16_t to_bfloat16(float f) { return c10::BFloat16(f).x; }

#if defined(__FLT16_MANT_DIG__)
uint16_t compiler_half(float f) {
  const _Float16 h = static_cast<_Float16>(f);
  uint16_t b;
  std::memcpy(&b, &h, sizeof b);
  return b;
}
float compiler_widen(uint16_t b) {
  _Float16 h;
  std::memcpy(&h, &b, sizeof h);
  return static_cast<float>(h);
}
#endif

void half_from(uint32_t bits) {
  const float f = float_of(bits);
  if (std::isnan(f)) {
    same("half from NaN", bits, to_half(f), (bits >> 16 & 0x8000) | 0x7e00);
    return;
  }
  same("half from float", bits, to_half(f), nearest_even<c10::Half>(f, 0x7c00));
#if defined(__FLT16_MANT_DIG__)
  same("half from float, compiler", bits, to_half(f), compiler_half(f));
#endif
}

void bfloat16_from(uint32_t bits) {
  const float f = float_of(bits);
  if (std::isnan(f))
    same("bfloat16 from NaN", bits, to_bfloat16(f), 0x7fc0);
  else
    same("bfloat16 from float", bits, to_bfloat16(f), nearest_even<c10::BFloat16>(f, 0x7f80));
}

} // namespace

int main() {
  for (uint32_t b = 0; b <= 0xffff; ++b) {
    const uint16_t code = static_cast<uint16_t>(b);
    const float wide = c10::Half(code, c10::Half::from_bits());
    // Widening by the definition of binary16.
    const int exponent = b >> 10 & 0x1f;
    const double mantissa = b & 0x3ff;
    if (exponent == 0x1f && mantissa != 0) {
      same("half NaN widened", b, bits_of(wide), (b & 0x8000) << 16 | 0x7fc00000 | (b & 0x3ff) << 13);
    } else {
      const double magnitude = exponent == 0x1f ? static_cast<double>(INFINITY)
                               : exponent       ? std::ldexp(1 + mantissa / 1024, exponent - 15)
                                                : std::ldexp(mantissa, -24);
      same("half widened", b, bits_of(wide), bits_of(static_cast<float>(b & 0x8000 ? -magnitude : magnitude)));
      same("half round trip", b, to_half(wide), b);
    }
#if defined(__FLT16_MANT_DIG__)
    same("half widened, compiler", b, bits_of(wide), bits_of(compiler_widen(code)));
#endif
    const float brain = c10::BFloat16(code, c10::BFloat16::from_bits());
    same("bfloat16 widened", b, bits_of(brain), b << 16);
    if (!std::isnan(brain))
      same("bfloat16 round trip", b, to_bfloat16(brain), b);

    // Around every value and every tie of both formats.
    const uint32_t centre = bits_of(wide);
    const uint32_t tie = exponent ? 0x1000u : 0u;
    for (int d = -2; d <= 2; ++d) {
      half_from(centre + static_cast<uint32_t>(d));
      half_from(centre + tie + static_cast<uint32_t>(d));
      bfloat16_from((b << 16) + static_cast<uint32_t>(d));
      bfloat16_from((b << 16) + 0x8000u + static_cast<uint32_t>(d));
    }
    // Ties between subnormal halves: odd multiples of 2^-25.
    if (exponent == 0) {
      const float half_way = static_cast<float>(std::ldexp(2 * mantissa + 1, -25));
      for (int d = -2; d <= 2; ++d)
        half_from(bits_of(b & 0x8000 ? -half_way : half_way) + static_cast<uint32_t>(d));
    }
  }
  // A coarse sweep of all floats, NaNs included.
  for (uint64_t b = 0; b <= 0xffffffffu; b += 40503) {
    half_from(static_cast<uint32_t>(b));
    bfloat16_from(static_cast<uint32_t>(b));
  }

  // Arithmetic is float arithmetic rounded once.
  uint32_t random = 1;
  for (int i = 0; i < 200000; ++i) {
    random = random * 1664525u + 1013904223u;
    const c10::Half a(static_cast<uint16_t>(random), c10::Half::from_bits());
    const c10::Half b(static_cast<uint16_t>(random >> 16), c10::Half::from_bits());
    const float x = a, y = b;
    same("half +", random, (a + b).x, to_half(x + y));
    same("half *", random, (a * b).x, to_half(x * y));
    same("half /", random, (a / b).x, to_half(x / y));
    same("half <", random, a < b, x < y);
    same("half ==", random, a == b, x == y);
    const c10::BFloat16 c(static_cast<uint16_t>(random), c10::BFloat16::from_bits());
    const c10::BFloat16 d(static_cast<uint16_t>(random >> 16), c10::BFloat16::from_bits());
    const float z = c, w = d;
    same("bfloat16 -", random, (c - d).x, to_bfloat16(z - w));
    same("bfloat16 *", random, (c * d).x, to_bfloat16(z * w));
  }

  typedef std::numeric_limits<c10::Half> H;
  typedef std::numeric_limits<c10::BFloat16> B;
  same("half epsilon", 0, bits_of(H::epsilon()), bits_of(0x1p-10f));
  same("half max", 0, bits_of(H::max()), bits_of(65504.0f));
  same("half min", 0, bits_of(H::min()), bits_of(0x1p-14f));
  same("half denorm_min", 0, bits_of(H::denorm_min()), bits_of(0x1p-24f));
  same("bfloat16 epsilon", 0, bits_of(B::epsilon()), bits_of(0x1p-7f));
  same("bfloat16 max", 0, bits_of(B::max()), bits_of(0x1.fep127f));
  same("bfloat16 min", 0, bits_of(B::min()), bits_of(std::numeric_limits<float>::min()));
  std::printf("%lu comparisons\n", comparisons);
  return 0;
}
