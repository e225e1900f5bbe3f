"""Sparsification as it is usually written: one point at a time, with a growing Cholesky factor.

delta = k(x, x) - |R'^-1 k_x|^2 with K = R' R. R is kept packed, column after column, so that a point that
joins appends a column and nothing is ever copied or factored again; each point costs one product kernel with
the whole dictionary and one packed triangular solve in BLAS.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtpsv

from extrinsic.arrays import Floats, Ints


def sparsify_one_at_a_time(continuous: Floats, table: Ints, height: float, width: float, nu: float) -> Ints:
    """(m,) the points that join, in order; continuous (n, d), table (n, e): discrete elements and action."""
    n_points, own = len(continuous), height**2
    chosen = np.empty(n_points, dtype=np.int64)
    points, signs = np.empty_like(continuous), np.empty_like(table)
    factor = np.empty(1024)
    size = used = 0
    for number in range(n_points):
        squares = ((points[:size] - continuous[number]) ** 2).sum(axis=1)
        same = (signs[:size] == table[number]).all(axis=1)
        similar = own * np.exp(squares / (-2.0 * width**2)) * same
        column = dtpsv(size, factor, similar, trans=1, overwrite_x=1) if size else similar
        delta = own - float(column @ column)
        if delta <= nu:
            continue
        if used + size + 1 > len(factor):
            factor = np.concatenate([factor, np.empty(max(len(factor), size + 1))])
        factor[used : used + size] = column
        factor[used + size] = np.sqrt(delta)
        points[size], signs[size], chosen[size] = continuous[number], table[number], number
        used += size + 1
        size += 1
    return chosen[:size]
