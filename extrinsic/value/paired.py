"""Differences and means of values, with intervals: dialogs that two values share are resampled together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.value.result import interval
from extrinsic.value.world_value import NORMAL


@dataclass(frozen=True, eq=False)
class Paired:
    """A value, or a linear combination of values, and the influence of every dialog on it.

    influence: (n,) arrays by the name of the dialogs they refer to; groups are resampled independently.
    parts: the same value by each part of an estimator that is a mean of others. Their disagreement is a bias
    that dialogs do not show; half of it widens the interval, as it does for the value itself.
    own_error: a standard error that no dialog shows and no other value shares.
    """

    mean: float
    influence: Mapping[str, Floats]
    parts: Mapping[str, float] = field(default_factory=dict)
    own_error: float = 0.0

    def minus(self, other: Paired) -> Paired:
        """The difference; what only the other lacks parts for is taken from its mean."""
        return _combined([(1.0, self), (-1.0, other)])

    def interval(self) -> tuple[float, float]:
        """A 95 % interval."""
        low, high = interval(self.mean, [self.influence[name] for name in sorted(self.influence)])
        spread = max(self.parts.values()) - min(self.parts.values()) if self.parts else 0.0
        unseen = np.hypot(spread / 2.0, NORMAL * self.own_error)
        below, above = np.hypot([self.mean - low, high - self.mean], unseen)
        return float(self.mean - below), float(self.mean + above)


def mean_of(values: Sequence[Paired]) -> Paired:
    return _combined([(1.0 / len(values), value) for value in values])


def _combined(terms: Sequence[tuple[float, Paired]]) -> Paired:
    influence: dict[str, Floats] = {}
    for weight, value in terms:
        for name, numbers in value.influence.items():
            influence[name] = influence.get(name, 0.0) + weight * numbers
    names = {name for _, value in terms for name in value.parts}
    parts = {
        name: float(sum(weight * value.parts.get(name, value.mean) for weight, value in terms))
        for name in sorted(names)
    }
    own_error = float(np.linalg.norm([weight * value.own_error for weight, value in terms]))
    return Paired(float(sum(weight * value.mean for weight, value in terms)), influence, parts, own_error)
