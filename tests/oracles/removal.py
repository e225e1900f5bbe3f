"""Sparsification by removal as it is defined, in decimal numbers of many digits.

The Gram matrix of thirty points has eigenvalues far below what a double resolves, and whether a point depends
on the rest then is a matter of rounding; here it is not. So points that depend on those after them as far as
a double can say leave first, as the package has it; the others one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from extrinsic.arrays import Floats

DIGITS = 200
Decimals = np.ndarray[Any, np.dtype[np.object_]]


@dataclass(frozen=True)
class Removed:
    """remaining: the points that stay.   leaving: delta of each against those after it that do not depend.
    deltas: of each when it was looked at, 0 where it had left.   residual: of every point against those that
    stay."""

    remaining: list[int]
    leaving: list[float]
    deltas: list[float]
    residual: list[float]


def remove(points: Floats, height: float, nu: float, dependent: float) -> Removed:
    """With a Gaussian kernel of width 1. The delta of a point against the rest is 1 / (K^-1)_xx.

    dependent: of k(x, x), up to which a point leaves before the others.
    """
    with localcontext(prec=DIGITS):
        gram = gram_matrix(points, height)
        leaving, deltas = ([Decimal(0)] * len(points) for _ in range(2))
        remaining: list[int] = []
        inverse = inverted(gram[:0, :0])
        for at in reversed(range(len(points))):
            similar = gram[remaining, at]
            toward = inverse @ similar
            leaving[at] = gram[at, at] - similar @ toward
            if leaving[at] > Decimal(dependent) * gram[at, at]:
                remaining.insert(0, at)
                inverse = inverted(gram[np.ix_(remaining, remaining)])
        for number in tuple(remaining):
            at = remaining.index(number)
            deltas[number] = 1 / inverse[at, at]
            if deltas[number] <= Decimal(nu):
                inverse = inverse - np.outer(inverse[at], inverse[at]) / inverse[at, at]
                inverse = np.delete(np.delete(inverse, at, axis=0), at, axis=1)
                del remaining[at]
        similar = gram[remaining]
        residual = gram.diagonal() - (similar * (inverse @ similar)).sum(axis=0)
    return Removed(remaining, *([float(delta) for delta in part] for part in (leaving, deltas, residual)))


def gram_matrix(points: Floats, height: float) -> Decimals:
    exact = [[Decimal(float(value)) for value in point] for point in points]
    own = Decimal(height) ** 2
    gram = np.full((len(exact), len(exact)), own, dtype=object)
    for row, column in zip(*np.tril_indices(len(exact), -1), strict=True):
        squares = sum((a - b) ** 2 for a, b in zip(exact[row], exact[column], strict=True))
        gram[row, column] = gram[column, row] = own * (-squares / 2).exp()
    return gram


def inverted(matrix: Decimals) -> Decimals:
    """By Gauss and Jordan; a Gram matrix needs no pivoting."""
    inverse = matrix.copy()
    for at in range(len(inverse)):
        pivot, row, column = inverse[at, at], inverse[at].copy(), inverse[:, at].copy()
        inverse = inverse - np.outer(column, row) / pivot
        inverse[at], inverse[:, at], inverse[at, at] = row / pivot, -column / pivot, 1 / pivot
    return inverse
