"""Choosing the points of kernels: sparsification by approximate linear dependence (Engel et al. 2004).

A point joins the dictionary when its image in feature space is further than nu (squared) from the span of
those already in it: delta = k(x, x) - k_x' K^-1 k_x > nu. The definition takes the points one at a time and
solves with K for each. Here the same is done per block, left-looking: whenever a point joins, one column of
the Cholesky factor of its block is computed for all points that follow, which lowers their delta; the next
to join is the first of them whose delta is still above nu. Same dictionary, one matrix-vector product each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ints, offsets_from_lengths
from extrinsic.errors import UsageError
from extrinsic.policy.kernels import Gaussian


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The chosen points of each block.

    rows (m,): which points, block by block, in order within a block.   offsets (n_blocks + 1,): of blocks.
    residual (n,): delta of every point against the final dictionary of its block, 0 for its members.
    full (k,): the blocks that reached the largest size, so that more would have joined.
    """

    rows: Ints
    offsets: Ints
    residual: Floats
    full: Ints

    def __len__(self) -> int:
        return len(self.rows)


def sparsify(
    continuous: Floats, block: Ints, n_blocks: int, kernel: Gaussian, nu: float, largest: int | None = None
) -> Dictionary:
    """The dictionary of points (n, d) in blocks (n,); `largest`: the maximum size of a block."""
    if not (np.isfinite(nu) and nu > 0):
        raise UsageError("the threshold nu must be positive", found=str(nu))
    if nu >= float(kernel.height) ** 2:
        raise UsageError(
            "with this threshold nu no point would become a kernel",
            expected=f"less than the squared height of the kernel, {kernel.height**2:g}",
            found=str(nu),
        )
    if largest is not None and largest < 1:
        raise UsageError("the largest size of a block must be at least 1", found=str(largest))
    order = np.argsort(block, kind="stable")
    bounds = np.searchsorted(block[order], np.arange(n_blocks + 1))
    chosen, sizes, full = [], [], np.zeros(n_blocks, dtype=bool)
    residual = np.empty(len(block))
    for number in range(n_blocks):
        members = order[bounds[number] : bounds[number + 1]]
        joined, residual[members], full[number] = _sparsify_block(continuous[members], kernel, nu, largest)
        chosen.append(members[joined])
        sizes.append(len(joined))
    rows = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
    return Dictionary(rows, offsets_from_lengths(sizes), residual, np.flatnonzero(full))


def _sparsify_block(
    points: Floats, kernel: Gaussian, nu: float, largest: int | None
) -> tuple[Ints, Floats, bool]:
    """(m,) positions that join, (n,) the residuals, and whether the block is full."""
    n_points, own = len(points), float(kernel.height) ** 2
    delta = np.full(n_points, own)
    # -|x - y|^2 / 2 sigma^2 as a sum of parts that are computed once.
    scale = -0.5 / kernel.width**2
    squares, cross = scale * (points**2).sum(axis=1), np.ascontiguousarray(-2.0 * scale * points.T)
    # Rows of the factor, one for each member: entry j of a row belongs to point j.
    factor = np.empty((min(16, n_points), n_points))
    joined: list[int] = []
    position = 0
    while position < n_points:
        beyond = delta[position:] > nu
        step = int(beyond.argmax())
        if not beyond[step]:
            break
        if largest is not None and len(joined) >= largest:
            return _joined(joined, delta, full=True)
        position += step
        size = len(joined)
        if size == len(factor):
            factor = np.concatenate([factor, np.empty((min(size, n_points - size), n_points))])
        # The whole row, also for earlier points: their final residual is reported too.
        row = points[position] @ cross + squares + squares[position]
        row = own * np.exp(np.minimum(row, 0.0, out=row), out=row)
        row -= factor[:size, position] @ factor[:size]
        row /= np.sqrt(delta[position])
        factor[size] = row
        delta -= row * row
        joined.append(position)
        position += 1
    return _joined(joined, delta, full=False)


def _joined(joined: list[int], delta: Floats, full: bool) -> tuple[Ints, Floats, bool]:
    members = np.array(joined, dtype=np.int64)
    delta[members] = 0.0
    return members, np.maximum(delta, 0.0), full
