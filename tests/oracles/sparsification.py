"""Approximate linear dependence as it is defined (Engel et al. 2004): one point at a time, no blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.policy.kernels import Kernel, Points


@dataclass(frozen=True)
class Found:
    """chosen: the points that joined, in order.   deltas: what each point's delta was when it was looked at.
    residual: the delta of every point against the final dictionary.   refused: those that found no room."""

    chosen: list[int]
    deltas: list[float]
    residual: list[float]
    refused: list[int]


def sparsify(points: Points, kernel: Kernel, nu: float, largest: int | None = None) -> Found:
    """`largest`: how many points with the same discrete elements and action there may be."""
    chosen: list[int] = []
    refused: list[int] = []
    deltas: list[float] = []
    for number in range(len(points)):
        deltas.append(delta_of(points, kernel, chosen, number))
        if deltas[-1] <= nu:
            continue
        alike = [other for other in chosen if _kind(points, other) == _kind(points, number)]
        (chosen if largest is None or len(alike) < largest else refused).append(number)
    residual = [delta_of(points, kernel, chosen, number) for number in range(len(points))]
    return Found(chosen, deltas, residual, refused)


def delta_of(points: Points, kernel: Kernel, chosen: list[int], number: int) -> float:
    """k(x, x) - k_x' K^-1 k_x"""
    point = points.take(np.array([number]))
    own = float(kernel.diagonal(point)[0])
    if not chosen:
        return own
    members = points.take(np.array(chosen))
    similar: Floats = kernel(members, point)[:, 0]
    return own - float(similar @ np.linalg.solve(kernel(members, members), similar))


def _kind(points: Points, number: int) -> tuple[int, ...]:
    action = () if points.action is None else (int(points.action[number]),)
    return (*map(int, points.discrete[number]), *action)
