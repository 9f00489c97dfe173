# SPDX-License-Identifier: Apache-2.0
"""What tiles should compute, in numpy and double precision."""

import numpy as np


def tiles(x):
    around = np.pad(x, ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    rows, columns = x.shape[1:]
    return np.max([around[:, r : r + rows, c : c + columns] for r in range(3) for c in range(3)], axis=0)
