"""Lee's kernel between states with actions as it is written: every pair of points, no blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Points:
    """n points: continuous (n, d); signs (n, e): the discrete elements, and the action behind them."""

    continuous: Floats
    signs: Ints

    def __len__(self) -> int:
        return len(self.continuous)

    def take(self, rows: Ints) -> Points:
        return Points(self.continuous[rows], self.signs[rows])


def full_kernel(first: Points, second: Points, height: float, width: float) -> Floats:
    """(n_first, n_second) p^2 exp(-|x - y|^2 / (2 sigma^2)) where all signs are the same, else 0."""
    distance = np.linalg.norm(first.continuous[:, None] - second.continuous[None], axis=2)
    same = (first.signs[:, None] == second.signs[None]).all(axis=2)
    return np.asarray(np.where(same, height**2 * np.exp(-(distance**2) / (2.0 * width**2)), 0.0))
