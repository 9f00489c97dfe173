"""Prints what calling a library's only op costs from Python, one float array in and one like it out: medians in milliseconds.

`PYTHONPATH=PACKAGE python3 benches/calls.py LIBRARY`: of 2x3 elements, of 1,000, of 1,024x1,024, and of the copies that the
last one makes: to bytes, into the extension, out of it. `cargo xtask bench simulator` runs it.
"""

import statistics
import sys
import time

import numpy as np

import gpsimd_build

ROUNDS = {(2, 3): 401, (1000,): 201, (1024, 1024): 5}


def median(once, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        once()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def copies(x):
    data = x.tobytes()
    bytearray(data)
    bytearray(data)


[op] = gpsimd_build.Library(sys.argv[1]).values()
took = []
for shape, rounds in ROUNDS.items():
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    assert np.array_equal(op(x), np.maximum(x, 0))
    took.append(median(lambda: op(x), rounds))
took.append(median(lambda: copies(x), 21))
print(*(f"{one:.4f}" for one in took))
