"""Rows that hold an estimate: its columns when they are written, and on which side of 0 it lies when read."""

from __future__ import annotations

from typing import Protocol

from extrinsic.correlation.estimate import Estimate
from extrinsic.correlation.verdicts import Verdict, side_of_zero


class WithIntervals(Protocol):
    """A row with both intervals of an estimate: over resamples, and by the jackknife over trackers."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def jackknife_low(self) -> float: ...
    @property
    def jackknife_high(self) -> float: ...


def estimate_fields(estimate: Estimate, name: str = "r", level: float = 0.95) -> dict[str, float]:
    """The fields of a row: a single number under `name`, and both of its intervals."""
    low, high = estimate.interval(level)
    jackknife_low, jackknife_high = estimate.jackknife(level)
    return {
        name: float(estimate.value),
        "low": float(low),
        "high": float(high),
        "jackknife_low": float(jackknife_low),
        "jackknife_high": float(jackknife_high),
    }


def row_verdict(row: WithIntervals) -> Verdict:
    """Above or below 0 where both intervals are."""
    return side_of_zero((row.low, row.high), (row.jackknife_low, row.jackknife_high))
