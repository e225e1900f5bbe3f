"""Choosing the points of kernels: sparsification by approximate linear dependence (Engel et al. 2004).

A point joins the dictionary when its image in feature space is further than nu (squared) from the span of
those already in it: delta = k(x, x) - k_x' K^-1 k_x > nu. The definition takes the points one at a time and
solves with K for each. Here the same is done per block, left-looking: whenever a point joins, one column of
the Cholesky factor of its block is computed for all points that follow, which lowers their delta; the next
to join is the first of them whose delta is still above nu. Same dictionary, one matrix-vector product each.

Lee (2014) cites Engel and words it the other way round: all points are kernels at first, and one is removed
when its delta against all the rest is at most nu. Which points remain differs. A point that joined nowhere
lies within nu of the span of the dictionary; one that was removed need not, as others were removed later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from extrinsic.arrays import Floats, Ints, offsets_from_lengths
from extrinsic.errors import UsageError
from extrinsic.policy.kernels import Gaussian, in_blocks

Sparsification = Literal["growing", "removal"]
"""Points join an empty dictionary (Engel et al. 2004), or leave a full one (as Lee 2014 words it)."""

DEPENDENT = 1e-9
"""Of k(x, x): a point with a smaller delta depends on others as far as one can compute."""


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


def require_threshold(nu: float, height: float) -> None:
    """Raise UsageError unless 0 < nu < k(x, x)."""
    if not (np.isfinite(nu) and nu > 0):
        raise UsageError("the threshold nu must be positive", found=str(nu))
    if nu >= float(height) ** 2:
        raise UsageError(
            "with this threshold nu no point would become a kernel",
            expected=f"less than the squared height of the kernel, {height**2:g}",
            found=str(nu),
        )


def sparsify(
    continuous: Floats,
    block: Ints,
    n_blocks: int,
    kernel: Gaussian,
    nu: float,
    largest: int | None = None,
    method: Sparsification = "growing",
) -> Dictionary:
    """The dictionary of points (n, d) in blocks (n,); `largest`: the maximum size of a block."""
    require_threshold(nu, kernel.height)
    if largest is not None and method == "removal":
        raise UsageError("a largest size of blocks goes with sparsification 'growing' only")
    if largest is not None and largest < 1:
        raise UsageError("the largest size of a block must be at least 1", found=str(largest))
    order, bounds = in_blocks(block, n_blocks)
    chosen, sizes, full = [], [], np.zeros(n_blocks, dtype=bool)
    residual = np.empty(len(block))
    for number in range(n_blocks):
        members = order[bounds[number] : bounds[number + 1]]
        points = continuous[members]
        if method == "removal":
            joined, residual[members] = _reduce_block(points, kernel, nu)
        else:
            joined, residual[members], full[number] = _sparsify_block(points, kernel, nu, largest)
        chosen.append(members[joined])
        sizes.append(len(joined))
    rows = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
    return Dictionary(rows, offsets_from_lengths(sizes), residual, np.flatnonzero(full))


def _sparsify_block(
    points: Floats, kernel: Gaussian, nu: float, largest: int | None
) -> tuple[Ints, Floats, bool]:
    """(m,) positions that join, (n,) the residuals, and whether the block is full."""
    joined, delta, _, full = _grow(points, kernel, nu, largest)
    delta[joined] = 0.0
    return joined, np.maximum(delta, 0.0), full


def _grow(
    points: Floats, kernel: Gaussian, nu: float, largest: int | None
) -> tuple[Ints, Floats, Floats, bool]:
    """(m,) positions that join, (n,) deltas, (m, n) the factor, and whether the block is full."""
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
            return np.array(joined, dtype=np.int64), delta, factor[: len(joined)], True
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
    return np.array(joined, dtype=np.int64), delta, factor[: len(joined)], False


def _reduce_block(points: Floats, kernel: Gaussian, nu: float) -> tuple[Ints, Floats]:
    """(m,) positions that remain, and (n,) the residuals."""
    remaining = _remaining(points, kernel, nu)
    order = np.concatenate([remaining, np.setdiff1d(np.arange(len(points)), remaining)])
    # Each of those that remain is further than nu from the others' span: put first, all of them join.
    _, delta, _ = _sparsify_block(points[order], kernel, 0.5 * nu, len(remaining))
    residual = np.empty(len(points))
    residual[order] = delta
    return remaining, residual


def _remaining(points: Floats, kernel: Gaussian, nu: float) -> Ints:
    """(m,) positions that remain when each in turn is compared to all that are left.

    Left are those before it that stayed, and all after it that are further than DEPENDENT from the span of
    those after them: the others have left first, as rounding decides what they would explain. The Cholesky
    factor is made from the last point to the first, so that the span of all after a point is just the
    coordinates of those after it: what counts are the coordinates up to its own. There the point has a
    single one, l; let v be the coordinates of those that stayed in its direction, and G the Gram matrix of
    their coordinates before it. Then
    delta = l^2 / (1 + v' G^-1 v). Each of them is further than nu from the others, so G is well conditioned,
    which the Gram matrix of all points is not.
    """
    last = len(points) - 1
    joined, _, factor, _ = _grow(points[::-1], kernel, DEPENDENT * kernel.height**2, None)
    direction = {last - position: row[::-1] for position, row in zip(joined.tolist(), factor, strict=True)}
    stayed: list[int] = []
    inverse = np.zeros((0, 0))
    for number, coordinates in sorted(direction.items()):
        toward = inverse @ coordinates[stayed]
        total = 1.0 + coordinates[stayed] @ toward
        delta = coordinates[number] ** 2 / total
        inverse -= np.outer(toward, toward) / total
        if delta > nu:
            # The inverse of G with another row and column: v l, and l^2 in the corner.
            across = -coordinates[number] * toward / total / delta
            inverse = np.block(
                [[inverse + np.outer(across, across) * delta, across[:, None]], [across, 1.0 / delta]]
            )
            stayed.append(number)
    return np.array(stayed, dtype=np.int64)
