# SPDX-License-Identifier: Apache-2.0
"""What elementwise should compute, in numpy and double precision."""

import numpy as np


def elementwise(x, g):
    x = x.astype(np.float64)
    return x / (1 + np.exp(-x)) * g
