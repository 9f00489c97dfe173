#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints `sdk/include/gpsimd/fast_tables.hpp`: the polynomial coefficients of `gpsimd/fast.hpp`.

Each function is cut into segments; in each a polynomial in t, 0 <= t < 1, is fitted through Chebyshev points, in decimal
arithmetic of 60 digits. Coefficients are signed 32-bit integers, scaled by a power of two. On standard error: the largest
error of each fit, in bits. Unaware of how the device evaluates them; the exhaustive test is `fast_exhaustive.cpp`.
"""

import sys
from decimal import Decimal as D, getcontext

getcontext().prec = 60
ONE, HALF = D(1), D("0.5")


def arctan_inverse(n):
    total, power, k = D(0), ONE / n, 0
    while abs(power) > D(10) ** -58:
        total += power / (2 * k + 1) * (-1 if k % 2 else 1)
        power /= n * n
        k += 1
    return total


PI = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
LN2 = D(2).ln()


def series(term, next_term):
    """Sum of a series that is given by its first term and the quotient of neighbours."""
    total, k = D(0), 0
    while abs(term) > D(10) ** -55 or k < 4:
        total += term
        term *= next_term(k)
        k += 1
    return total


def sin(x):
    return series(x, lambda k: -x * x / ((2 * k + 2) * (2 * k + 3)))


def cos(x):
    return series(ONE, lambda k: -x * x / ((2 * k + 1) * (2 * k + 2)))


def erf(x):
    # The series with positive terms only: no cancellation.
    return 2 / PI.sqrt() * (-x * x).exp() * series(x, lambda k: 2 * x * x / (2 * k + 3))


def erfc(x):
    """1 - erf(x): directly where that loses little, else by its continued fraction."""
    if x < 3:
        return 1 - erf(x)
    f = x
    for k in range(200, 0, -1):
        f = x + D(k) / 2 / f
    return (-x * x).exp() / PI.sqrt() / f


def tanh(x):
    e = (-2 * x).exp()
    return (1 - e) / (1 + e)


def tanh_over_x(z):
    return ONE - z / 3 if z < D(10) ** -30 else tanh(z.sqrt()) / z.sqrt()


def log1p_over_x(x):
    return ONE - x / 2 if abs(x) < D(10) ** -28 else (1 + x).ln() / x


def tail(a):
    """a P(X > a) for a normal X, divided by exp(-a*a/2): varies slowly."""
    return a * erfc(a / D(2).sqrt()) / 2 * (a * a / 2).exp()


def solve(rows):
    """Gauss-Jordan; each row ends with its right side."""
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i:
                factor = rows[r][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [row[n] for row in rows]


def value(c, t):
    total = D(0)
    for a in reversed(c):
        total = total * t + a
    return total


def fit(f, degree):
    """Coefficients of the polynomial through Chebyshev points of [0, 1], and its largest error seen."""
    n = degree + 1
    points = [HALF - HALF * cos(PI * (2 * k + 1) / (2 * n)) for k in range(n)]
    c = solve([[ONE] + [t**j for j in range(1, n)] + [f(t)] for t in points])
    tests = [D(k) / 8 for k in range(9)]
    error = max(abs(value(c, t) - f(t)) for t in tests)
    return c, error


def octaves(f, first, last, per):
    """Segments of the floats in [2^first, 2^last), `per` of them in each octave."""
    for octave in range(first, last):
        for k in range(per):
            low, width = D(2) ** octave * (1 + D(k) / per), D(2) ** octave / per
            yield lambda t, low=low, width=width: f(low + width * t)


def uniform(f, low, high, count):
    """`count` equal segments of [low, high)."""
    for k in range(count):
        width = (high - low) / count
        yield lambda t, k=k, width=width: f(low + width * (k + t))


def table(name, comment, segments, degree, scale, first_scale=None):
    worst, lines = D(0), []
    for segment in segments:
        c, error = fit(segment, degree)
        worst = max(worst, error)
        scales = [first_scale or scale] + [scale] * degree
        numbers = [int((a * D(2) ** s).to_integral_value()) for a, s in zip(c, scales)]
        if first_scale == 32:
            numbers[0] = (numbers[0] + 2**31) % 2**32 - 2**31
        assert all(-(2**31) <= v < 2**31 for v in numbers), (name, numbers)
        lines.append("    {" + ", ".join(str(v) if v != -(2**31) else "INT32_MIN" for v in numbers) + "},")
    print(f"{name}: 2^{float(worst.ln() / LN2):.1f}", file=sys.stderr)
    print(f"// {comment}")
    print(f"GPSIMD_KIT_TABLE({name}, {len(lines)}, {degree + 1})")
    print("\n".join(lines))
    print("GPSIMD_KIT_TABLE_END")
    print()


HEADER = """// SPDX-License-Identifier: Apache-2.0
//
// Coefficients for gpsimd/fast.hpp: a row is one segment, lowest power first. Written by sdk/tests/kit/tables.py.
#pragma once

#include <stdint.h>

namespace gpsimd {
namespace fast {
namespace tables {

// A static member of a template may be defined in a header; a table that no kernel uses is not linked.
#define GPSIMD_KIT_TABLE(name, rows, columns)  \\
    template <typename Unused>                 \\
    struct name##_of {                         \\
        static const int32_t row[rows][columns]; \\
    };                                         \\
    typedef name##_of<void> name;              \\
    template <typename Unused>                 \\
    const int32_t name##_of<Unused>::row[rows][columns] = {
#define GPSIMD_KIT_TABLE_END };
"""

FOOTER = """#undef GPSIMD_KIT_TABLE
#undef GPSIMD_KIT_TABLE_END

}  // namespace tables
}  // namespace fast
}  // namespace gpsimd"""


def main():
    print(HEADER)
    table("Exp2", "2^f - 1 for f in [0, 1), 16 segments, Q31.", uniform(lambda f: (LN2 * f).exp() - 1, D(0), ONE, 16), 3, 31)
    table("Log", "ln(m) for m in [1, 2), 32 segments; the constant in Q32 (unsigned), the rest in Q36.",
          octaves(lambda m: m.ln(), 0, 1, 32), 3, 36, 32)
    table("LogNearOne", "ln(1 + r) / r for r in [-1/8, 1/8), 8 segments, Q30.",
          uniform(log1p_over_x, D(-1) / 8, ONE / 8, 8), 3, 30)
    table("Log1p", "ln(1 + e) / e for e in [0, 1), 16 segments, Q30.", uniform(log1p_over_x, D(0), ONE, 16), 4, 30)
    table("Reciprocal", "1 / d for d in [1, 2), 16 segments, Q30.", octaves(lambda d: 1 / d, 0, 1, 16), 4, 30)
    table("ReciprocalRoot", "1 / sqrt(m) for m in [1, 4), 16 segments in each of two octaves, Q30.",
          octaves(lambda m: 1 / m.sqrt(), 0, 2, 16), 4, 30)
    table("TanhSmall", "1 - tanh(x) / x as a polynomial in 16 x^2, |x| < 1/4, Q32.",
          [lambda t: 1 - tanh_over_x(t / 16)], 4, 32)
    table("Tanh", "tanh(x) for x in [1/4, 16), 8 segments an octave, Q30.", octaves(tanh, -2, 4, 8), 5, 30)
    table("ErfSmall", "erf(x) / x as a polynomial in 4 x^2, |x| < 1/2, Q30.",
          [lambda t: 2 / PI.sqrt() - t / 12 if t < D(10) ** -30 else erf(t.sqrt() / 2) / (t.sqrt() / 2)], 4, 30)
    table("Erf", "erf(x) for x in [1/2, 4), 16 segments an octave, Q30.", octaves(erf, -1, 2, 16), 4, 30)
    table("TailSmall", "P(X > a) of a normal X, for a in [0, 1/4), Q31.", [lambda t: erfc(t / 4 / D(2).sqrt()) / 2], 5, 31)
    table("Tail", "a P(X > a) / exp(-a^2/2) for a in [1/4, 16), 4 segments an octave, Q31.", octaves(tail, -2, 4, 4), 5, 31)
    table("Sine", "sin(r pi/2) / r as a polynomial in 4 r^2, |r| <= 1/2, Q30.",
          [lambda t: PI / 2 - t * PI**3 / 192 if t < D(10) ** -30 else sin(t.sqrt() * PI / 4) / (t.sqrt() / 2)], 4, 30)
    table("Cosine", "cos(r pi/2) as a polynomial in 4 r^2, |r| <= 1/2, Q30.", [lambda t: cos(t.sqrt() * PI / 4)], 4, 30)
    print(FOOTER)


main()
