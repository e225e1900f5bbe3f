"""States as plain rows of numbers, as other libraries take them: one column for each discrete value."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.policy.states import States


@dataclass(frozen=True, eq=False)
class FlatStates:
    """An encoding of states: their continuous columns, then 0 or 1 for each value of each discrete column.

    like: an empty States with the columns.   levels: the sorted values of every discrete column; another
    value is 0 everywhere.
    """

    like: States
    levels: tuple[Ints, ...]

    @staticmethod
    def of(states: States) -> FlatStates:
        return FlatStates(states.take(np.zeros(0, dtype=np.int64)), tuple(map(np.unique, states.discrete.T)))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of every number; of a discrete value its column and what it is."""
        discrete = zip(self.like.discrete_names, self.levels, strict=True)
        values = (f"{name}={level}" for name, levels in discrete for level in levels.tolist())
        return (*self.like.continuous_names, *values)

    def __call__(self, states: States) -> Floats:
        """(n, d) numbers."""
        states.require_like(self.like)
        signs = [
            (column[:, None] == levels).astype(np.float64)
            for column, levels in zip(states.discrete.T, self.levels, strict=True)
        ]
        return np.concatenate([states.continuous, *signs], axis=1)


def require_extra(module: str) -> ModuleType:
    """Import an optional library, or say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise UsageError(f"this needs {name}: pip install 'extrinsic[{name}]' ({error})") from None
