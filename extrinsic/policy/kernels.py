"""Lee's kernel between states: a Gaussian on what is continuous, a delta on everything discrete."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.policy.states import States


@dataclass(frozen=True)
class Gaussian:
    """p^2 exp(-|x - y|^2 / (2 sigma^2)); height p, width sigma.

    scales (d,): what each column is divided by before (ARD: a width of its own for each); None: nothing.
    """

    height: float = 4.0
    width: float = 1.0
    scales: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("height", "width"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise UsageError(f"the {name} of a Gaussian kernel must be positive", found=str(value))

    def scaled(self, points: Floats) -> Floats:
        """The points (n, d) as distances are measured between."""
        return points if self.scales is None else np.asarray(points / np.array(self.scales))

    def between(self, first: Floats, second: Floats) -> Floats:
        """(n_first, n_second) of points (n_first, d) and (n_second, d)."""
        first, second = self.scaled(first), self.scaled(second)
        squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2.0 * (first @ second.T)
        # Rounding may leave the distance of a point to itself just below 0.
        return np.asarray(self.height**2 * np.exp(np.maximum(squares, 0.0) / (-2.0 * self.width**2)))


def state_gram(kernel: Gaussian, first: States, second: States) -> Floats:
    """(n_first, n_second) the Gaussian where all discrete elements are the same, else 0.

    Dense; to compute only the nonzero part, go block by block (see blocks.py).
    """
    same = (first.discrete[:, None, :] == second.discrete[None, :, :]).all(axis=2)
    return np.asarray(kernel.between(first.continuous, second.continuous) * same)
