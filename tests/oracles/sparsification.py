"""Approximate linear dependence as it is defined (Engel et al. 2004): one point at a time, no blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from tests.oracles.kernels import Points, full_kernel


@dataclass(frozen=True)
class Found:
    """chosen: the points that joined, in order.   deltas: what each point's delta was when it was looked at.
    residual: the delta of every point against the final dictionary.   refused: those that found no room."""

    chosen: list[int]
    deltas: list[float]
    residual: list[float]
    refused: list[int]


def sparsify(points: Points, height: float, width: float, nu: float, largest: int | None = None) -> Found:
    """`largest`: how many points with the same discrete elements and action there may be."""
    gram = full_kernel(points, points, height, width)
    chosen: list[int] = []
    refused: list[int] = []
    deltas: list[float] = []
    for number in range(len(points)):
        deltas.append(delta_of(gram, chosen, number))
        if deltas[-1] <= nu:
            continue
        alike = [other for other in chosen if (points.signs[other] == points.signs[number]).all()]
        (chosen if largest is None or len(alike) < largest else refused).append(number)
    residual = [delta_of(gram, chosen, number) for number in range(len(points))]
    return Found(chosen, deltas, residual, refused)


def delta_of(gram: Floats, chosen: list[int], number: int) -> float:
    """k(x, x) - k_x' K^-1 k_x"""
    own = float(gram[number, number])
    if not chosen:
        return own
    similar = gram[chosen, number]
    return own - float(similar @ np.linalg.solve(gram[np.ix_(chosen, chosen)], similar))
