"""Sparsification by removal as it is defined, in decimal numbers of many digits.

The Gram matrix of thirty points has eigenvalues far below what a double resolves, and whether a point depends
on the rest then is a matter of rounding; here it is not.
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
    """remaining: the points that stay.   deltas: of each when it was looked at, 0 where the point came again.
    residual: of every point against those that stay."""

    remaining: list[int]
    deltas: list[float]
    residual: list[float]


def remove(points: Floats, height: float, nu: float) -> Removed:
    """With a Gaussian kernel of width 1. The delta of a point against the rest is 1 / (K^-1)_xx."""
    with localcontext(prec=DIGITS):
        gram = gram_matrix(points, height)
        deltas = [Decimal(0)] * len(points)
        # A point that comes again depends on its copy.
        remaining = [
            at for at, point in enumerate(points) if not (points[at + 1 :] == point).all(axis=1).any()
        ]
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
    return Removed(remaining, [float(delta) for delta in deltas], [float(delta) for delta in residual])


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
