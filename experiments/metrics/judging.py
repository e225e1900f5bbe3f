"""Words chosen by figures: what a claim comes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

AGREES, MOSTLY, NOT, UNRESOLVED = "agrees", "mostly", "does not", "not resolved"


class Tally:
    """Files whose interval lies above 0 (the claim holds), below (the opposite), on both sides of it."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], low: str, high: str, than: float = 0.0) -> None:
        sides = [_side(row[low] - than, row[high] - than) for row in rows]
        self.holds, self.opposite, self.open = (sides.count(side) for side in (1, -1, 0))

    def __str__(self) -> str:
        return f"{self.holds} / {self.opposite} / {self.open}"

    @property
    def verdict(self) -> str:
        return of_counts(self.holds, self.opposite, self.holds + self.opposite + self.open)


def of_interval(low: float, high: float) -> str:
    """Of a difference that the claim says is above 0."""
    return {1: AGREES, -1: NOT, 0: UNRESOLVED}[_side(low, high)]


def of_counts(holds: int, opposite: int, total: int) -> str:
    """Over files: most of them, and whether any says the opposite."""
    if 2 * holds > total:
        return MOSTLY if opposite else AGREES
    return NOT if 2 * opposite > total else UNRESOLVED


def of_figure(published: float, low: float, high: float) -> str:
    """Whether an interval holds a published figure."""
    return AGREES if low <= published <= high else NOT


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def span(row: Mapping[str, Any], name: str, low: str = "", high: str = "", decimals: int = 2) -> str:
    """value [low, high]"""
    keys = name, low or f"{name}_low", high or f"{name}_high"
    value, bottom, top = (f"{row[key]:.{decimals}f}" for key in keys)
    return f"{value} [{bottom}, {top}]"


def _side(low: float, high: float) -> int:
    return 1 if low > 0 else -1 if high < 0 else 0
