"""A figure with what is needed for its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.correlation.intervals import interval, jackknife_interval


@dataclass(frozen=True, eq=False)
class Statistic:
    """A figure, on every resample, and without each tracker in turn."""

    value: Floats
    resampled: Floats
    left_out: Floats

    def take(self, *place: int) -> Statistic:
        every: Any = (slice(None), *place)
        return Statistic(self.value[place], self.resampled[every], self.left_out[every])

    def less(self, other: Statistic) -> Statistic:
        return Statistic(
            self.value - other.value, self.resampled - other.resampled, self.left_out - other.left_out
        )

    def row(self, name: str, level: float = 0.95, is_correlation: bool = True) -> dict[str, float]:
        """The figure under a name, with both of its intervals."""
        low, high = interval(self.value, self.resampled, level=level)
        around = jackknife_interval(self.value, self.left_out, level, is_correlation)
        return {
            name: float(self.value),
            "low": float(low),
            "high": float(high),
            "jackknife_low": float(around[0]),
            "jackknife_high": float(around[1]),
        }


def partial(a: Statistic, b: Statistic, between: Statistic) -> Statistic:
    """The correlation with one thing given another: from those with each, and of the two with each other."""

    def of(x: Floats, y: Floats, z: Floats) -> Floats:
        return np.asarray((x - y * z) / np.sqrt((1.0 - y**2) * (1.0 - z**2)))

    return Statistic(
        of(a.value, b.value, between.value),
        of(a.resampled, b.resampled, between.resampled),
        of(a.left_out, b.left_out, between.left_out),
    )
