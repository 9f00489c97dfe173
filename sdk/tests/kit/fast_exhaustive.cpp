// SPDX-License-Identifier: Apache-2.0
//
// The error bounds of gpsimd/fast.hpp, on the host: every float, or every STEP-th, against the C library in double precision.
//
//   fast_exhaustive [STEP] [FUNCTION...]
//
// Prints one line per function: the largest error in ulp of the correct result and where it is. Exit code 1 when a bound that
// docs/kernels.md promises does not hold, or an infinity or NaN is missing. Integer functions must be exact.
//
// Facts it relies on: glibc's double functions are within 1 ulp of double, 2^-29 of the unit used here.

#include <gpsimd/fast.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace {

using namespace gpsimd;

using fast::of_bits;

// The unit in the last place of a float near y, subnormals included.
double ulp(double y) {
    y = std::fabs(y);
    if (y < std::numeric_limits<float>::min()) return std::ldexp(1.0, -149);
    int e;
    std::frexp(y, &e);
    return std::ldexp(1.0, e - 24);
}

// What f(-x) is, bit for bit but for a NaN: then half of the floats need no comparison with double precision.
enum class Mirror { kNone, kOdd, kEven };

struct Function {
    const char* name;
    float (*fast)(float);
    double (*exact)(double);
    double bound;  // ulp
    Mirror mirror = Mirror::kNone;
};

double exact_sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double exact_silu(double x) { return x == -INFINITY ? NAN : x * exact_sigmoid(x); }
double exact_softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double exact_gelu(double x) { return std::isinf(x) && x < 0 ? -0.0 : x / 2 * std::erfc(-x / std::sqrt(2.0)); }
double exact_rsqrt(double x) { return 1 / std::sqrt(x); }
double exact_exp(double x) { return std::exp(x); }
double exact_log(double x) { return std::log(x); }
double exact_tanh(double x) { return std::tanh(x); }
double exact_erf(double x) { return std::erf(x); }
double exact_sqrt(double x) { return std::sqrt(x); }
double exact_sin(double x) { return std::sin(x); }
double exact_cos(double x) { return std::cos(x); }
const Function kFunctions[] = {
    {"exp", fast::exp, exact_exp, 1.0},
    {"log", fast::log, exact_log, 1.0},
    {"tanh", fast::tanh, exact_tanh, 1.0, Mirror::kOdd},
    {"sigmoid", fast::sigmoid, exact_sigmoid, 1.0},
    {"silu", fast::silu, exact_silu, 1.0},
    {"softplus", fast::softplus, exact_softplus, 1.5},
    {"erf", fast::erf, exact_erf, 1.0, Mirror::kOdd},
    {"gelu", fast::gelu, exact_gelu, 1.0},
    {"rsqrt", fast::rsqrt, exact_rsqrt, 1.0},
    {"sqrt", fast::sqrt, exact_sqrt, 1.0},
    {"sin", fast::sin, exact_sin, 1.0, Mirror::kOdd},
    {"cos", fast::cos, exact_cos, 1.0, Mirror::kEven},
};

bool check(const Function& f, uint64_t step) {
    double worst = 0;
    uint32_t where = 0, bad = 0;
    for (uint64_t k = 0; k < 1ull << 32; k += step) {
        const float x = of_bits(static_cast<uint32_t>(k));
        const float got = f.fast(x);
        if (f.mirror != Mirror::kNone && k >> 31) {
            const uint32_t flipped = f.mirror == Mirror::kOdd ? 0x80000000u : 0;
            const float other = f.fast(of_bits(static_cast<uint32_t>(k) & 0x7fffffffu));
            const bool is_mirrored = fast::bits(got) == (fast::bits(other) ^ flipped);
            if (!is_mirrored && !(std::isnan(got) && std::isnan(other)) && bad++ == 0) where = static_cast<uint32_t>(k);
            continue;
        }
        const double want = f.exact(x);
        const float rounded = static_cast<float>(want);
        if (std::memcmp(&got, &rounded, sizeof got) == 0) continue;
        if (std::isnan(want) || std::isnan(got)) {
            if (!(std::isnan(want) && std::isnan(got)) && bad++ == 0) where = static_cast<uint32_t>(k);
            continue;
        }
        // An overflow counts as the next float above the largest.
        const double value = std::isinf(got) && !std::isinf(want) ? std::copysign(std::ldexp(1.0, 128), got) : got;
        const double error = std::isinf(want) && std::isinf(got) ? 0 : std::fabs(value - want) / ulp(want);
        if (!(error <= worst)) {
            worst = error;
            if (bad == 0) where = static_cast<uint32_t>(k);
        }
    }
    const bool good = worst <= f.bound && bad == 0;
    const float x = of_bits(where);
    std::printf("%-14s %s: at most %.4f ulp (bound %.1f) at %.9g (%08x): %.9g, exactly %.9g%s\n", f.name,
                step == 1 ? "all floats" : "sample", worst, f.bound, x, where, f.fast(x), f.exact(x),
                bad ? "; NaN in the wrong place, or not mirrored" : good ? "" : "; BOUND BROKEN");
    std::fflush(stdout);
    return good;
}

bool report(const char* name, bool good, uint32_t where) {
    std::printf("%-14s %s%s\n", name, good ? "exact" : "WRONG at ", good ? "" : (std::snprintf(nullptr, 0, "%u", where), ""));
    if (!good) std::printf("               %08x\n", where);
    std::fflush(stdout);
    return good;
}

bool check_rounding(uint64_t step) {
    for (uint64_t k = 0; k < 1ull << 32; k += step) {
        const float x = of_bits(static_cast<uint32_t>(k));
        const double near = std::nearbyint(static_cast<double>(x)), below = std::floor(static_cast<double>(x));
        const auto clip = [](double v) {
            return std::isnan(v) ? 0 : v >= 2147483647.0 ? INT32_MAX : v <= -2147483648.0 ? INT32_MIN : static_cast<int32_t>(v);
        };
        if (fast::round_to_int(x) != clip(near) || fast::floor_to_int(x) != clip(below))
            return report("round, floor", false, static_cast<uint32_t>(k));
    }
    return report("round, floor", true, 0);
}

bool check_sincos(uint64_t step) {
    const auto same = [](float a, float b) {
        return fast::bits(a) == fast::bits(b) || (std::isnan(a) && std::isnan(b));
    };
    for (uint64_t k = 0; k < 1ull << 32; k += step) {
        const float x = of_bits(static_cast<uint32_t>(k));
        float sine, cosine;
        fast::sincos(x, sine, cosine);
        if (!same(sine, fast::sin(x)) || !same(cosine, fast::cos(x))) return report("sincos", false, static_cast<uint32_t>(k));
    }
    return report("sincos", true, 0);
}

bool check_key(uint64_t step) {
    // Neighbouring encodings of one sign are neighbouring numbers, so their keys must be in order; and the way back.
    for (uint64_t k = 0; k < 1ull << 32; k += step) {
        const uint32_t u = static_cast<uint32_t>(k), next = u + 1;
        const bool in_order = (u >> 31) ? fast::key(of_bits(next)) < fast::key(of_bits(u)) : fast::key(of_bits(u)) < fast::key(of_bits(next));
        const bool is_last = (u & 0x7fffffff) == 0x7fffffff;
        if (fast::bits(fast::of_key(fast::key(of_bits(u)))) != u || (!is_last && !in_order)) return report("key", false, u);
    }
    return report("key", fast::key(-0.0f) < fast::key(0.0f), 0);
}

bool check_divisors(uint64_t step) {
    const float floats[] = {3.0f, 7.0f, 0.1f, 1e-30f, 1e30f, 255.0f, 0.017452f, -1.9999999f, 1.0f, 1.9999999f, 8.0f, 1e-40f, INFINITY};
    const uint32_t integers[] = {1, 2, 3, 5, 7, 10, 49, 255, 641, 1000, 65535, 65536, 65537, 1000003, 0x7fffffff, 0x80000000u, 0xffffffffu};
    const uint64_t sparse = step < 61 ? 61 : step;  // every divisor sees a sixty-first of all floats: coprime to all patterns of bits
    for (float d : floats) {
        const fast::FloatDivisor by(d);
        for (uint64_t k = 0; k < 1ull << 32; k += d == 3.0f || d == 0.1f ? step : sparse) {
            const float x = of_bits(static_cast<uint32_t>(k)), got = by(x), want = x / d;
            if (std::memcmp(&got, &want, sizeof got) != 0 && !(std::isnan(got) && std::isnan(want)))
                return report("FloatDivisor", false, static_cast<uint32_t>(k));
        }
    }
    for (uint32_t d : integers) {
        const fast::Divisor by(d);
        for (uint64_t k = 0; k < 1ull << 32; k += d == 7 || d == 641 ? step : sparse) {
            const uint32_t n = static_cast<uint32_t>(k);
            if (by.quotient(n) != n / d || by.remainder(n) != n % d) return report("Divisor", false, n);
        }
    }
    return report("Divisor, Float", true, 0);
}

}  // namespace

int main(int argc, char** argv) {
    const uint64_t step = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
    const auto asked = [&](const char* name) {
        for (int k = 2; k < argc; ++k)
            if (std::strcmp(argv[k], name) == 0) return true;
        return argc <= 2;
    };
    bool good = step > 0;
    for (const Function& f : kFunctions)
        if (asked(f.name)) good = check(f, step) && good;
    if (asked("sincos")) good = check_sincos(step) && good;
    if (asked("round")) good = check_rounding(step) && good;
    if (asked("key")) good = check_key(step) && good;
    if (asked("divisors")) good = check_divisors(step) && good;
    return good ? 0 : 1;
}
