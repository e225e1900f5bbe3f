"""States of a policy: continuous columns, compared by distance, and discrete ones, compared for equality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.errors import UsageError


@dataclass(frozen=True, eq=False)
class States:
    """n states: continuous (n, d), discrete (n, e), with the names of all columns."""

    continuous: Floats
    discrete: Ints
    continuous_names: tuple[str, ...]
    discrete_names: tuple[str, ...]

    def __post_init__(self) -> None:
        for array, names in ((self.continuous, self.continuous_names), (self.discrete, self.discrete_names)):
            if array.ndim != 2 or array.shape[1] != len(names) or len(array) != len(self.continuous):
                raise UsageError("the columns of states and their names do not fit together")
        wrong = np.argwhere(~np.isfinite(self.continuous))
        if len(wrong):
            row, column = wrong[0]
            raise UsageError(
                f"the feature {self.continuous_names[column]!r} is not a finite number",
                expected="finite numbers",
                found=f"{self.continuous[row, column]} in state {row}, {len(wrong):,} such in all",
            )

    def __len__(self) -> int:
        return len(self.continuous)

    def take(self, rows: Ints) -> States:
        return States(self.continuous[rows], self.discrete[rows], self.continuous_names, self.discrete_names)

    def require_like(self, other: States) -> None:
        """Raise UsageError unless the other states have the same columns."""
        own_names, other_names = (s.continuous_names + s.discrete_names for s in (self, other))
        if own_names != other_names:
            raise UsageError(
                "the states have other features than those learned from: "
                f"{name_differences(other_names, own_names)}",
                expected=", ".join(other_names),
                found=", ".join(own_names),
            )


def name_differences(expected: Sequence[str], found: Sequence[str]) -> str:
    """What names differ in: which are missing, which are too many, or that only their order differs."""
    parts = [
        f"{label} {', '.join(names)}"
        for label, names in (
            ("lacking", [name for name in expected if name not in found]),
            ("in addition", [name for name in found if name not in expected]),
        )
        if names
    ]
    return "; ".join(parts) or "the same in another order"
