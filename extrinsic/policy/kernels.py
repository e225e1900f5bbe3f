"""Kernels between states: small objects that multiply.

A kernel compares the rows of two lots of points; a point is a state, or a state with an action.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError


@dataclass(frozen=True, eq=False)
class Points:
    """n points: continuous (n, d), discrete (n, e), and the action (n,) where there is one."""

    continuous: Floats
    discrete: Ints
    action: Ints | None = None

    def __len__(self) -> int:
        return len(self.continuous)

    def take(self, rows: Ints) -> Points:
        action = None if self.action is None else self.action[rows]
        return Points(self.continuous[rows], self.discrete[rows], action)


@dataclass(frozen=True)
class Kernel(ABC):
    """k(x, y), symmetric and positive semi-definite."""

    @abstractmethod
    def __call__(self, first: Points, second: Points) -> Floats:
        """(n_first, n_second)"""

    @abstractmethod
    def diagonal(self, points: Points) -> Floats:
        """(n,) k(x, x)"""

    def __mul__(self, other: Kernel) -> Kernel:
        return Product(self, other)

    def get_params(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def with_params(self, **parameters: Any) -> Kernel:
        """A copy with some parameters changed."""
        return replace(self, **parameters)


@dataclass(frozen=True)
class Gaussian(Kernel):
    """p^2 exp(-|x - y|^2 / (2 sigma^2)) on the continuous part; height p, width sigma."""

    height: float = 4.0
    width: float = 1.0

    def __post_init__(self) -> None:
        for name in ("height", "width"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise UsageError(f"the {name} of a Gaussian kernel must be positive", found=str(value))

    def __call__(self, first: Points, second: Points) -> Floats:
        return self.between(first.continuous, second.continuous)

    def between(self, first: Floats, second: Floats) -> Floats:
        """(n_first, n_second) of bare arrays."""
        squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2.0 * (first @ second.T)
        # Rounding may leave the distance of a point to itself just below 0.
        return np.asarray(self.height**2 * np.exp(np.maximum(squares, 0.0) / (-2.0 * self.width**2)))

    def diagonal(self, points: Points) -> Floats:
        return np.full(len(points), self.height**2)


@dataclass(frozen=True)
class Delta(Kernel):
    """1 where all discrete elements are the same, else 0."""

    def __call__(self, first: Points, second: Points) -> Floats:
        same = (first.discrete[:, None, :] == second.discrete[None, :, :]).all(axis=2)
        return np.asarray(same, dtype=np.float64)

    def diagonal(self, points: Points) -> Floats:
        return np.ones(len(points))


@dataclass(frozen=True)
class SameAction(Kernel):
    """1 where the action is the same, else 0."""

    def __call__(self, first: Points, second: Points) -> Floats:
        return np.asarray(_action(first)[:, None] == _action(second)[None, :], dtype=np.float64)

    def diagonal(self, points: Points) -> Floats:
        return np.ones(len(points))


def _action(points: Points) -> Ints:
    if points.action is None:
        raise UsageError("this kernel compares actions, and these points have none")
    return points.action


@dataclass(frozen=True)
class Product(Kernel):
    """k1(x, y) k2(x, y)"""

    first: Kernel
    second: Kernel

    def __call__(self, first: Points, second: Points) -> Floats:
        return self.first(first, second) * self.second(first, second)

    def diagonal(self, points: Points) -> Floats:
        return self.first.diagonal(points) * self.second.diagonal(points)


def state_kernel(height: float = 4.0, width: float = 1.0) -> Kernel:
    """Lee's kernel without the action: Gaussian x delta on every discrete element."""
    return Gaussian(height, width) * Delta()


def state_action_kernel(height: float = 4.0, width: float = 1.0) -> Kernel:
    """Lee's kernel: Gaussian x delta on every discrete element x delta on the action."""
    return state_kernel(height, width) * SameAction()
