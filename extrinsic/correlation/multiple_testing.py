"""How many of many statistics lie clearly above 0, beside how many would by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.verdict.intervals import SAME


@dataclass(frozen=True)
class ClearCount:
    """How many of `total` statistics lie clearly above 0, and how many would by chance.

    expected: on average where there is nothing.   most: at most so many with a chance of 95 %.   p: the
    chance of at least `count`.
    """

    count: int
    total: int
    expected: float
    most: int
    p: float

    def __str__(self) -> str:
        by_chance = f"by chance {self.expected:.1f}, at most {self.most}"
        return f"{self.count} of {self.total} clearly above 0 ({by_chance})"


def clear_count(observed: Floats, null: Floats, level: float = 0.95) -> ClearCount:
    """How many of observed (n,) exceed what (1 + level) / 2 of their own null (n_draws, n) stay below.

    The same is counted in every draw. Statistics that go together are clear together: the count by chance is
    on average n (1 - level) / 2, but may be far more.

    >>> rng = np.random.default_rng(0)
    >>> print(clear_count(np.array([3.0, 0.1, 2.5]), rng.normal(size=(999, 3))))
    2 of 3 clearly above 0 (by chance 0.1, at most 1)
    """
    defined = ~np.isnan(observed) & ~np.isnan(null).all(axis=0)
    values, drawn = observed[defined], null[:, defined]
    if not len(values):
        return ClearCount(0, 0, 0.0, 0, 1.0)
    critical = np.nanquantile(drawn, (1.0 + level) / 2.0, axis=0)
    count = int((values > critical + SAME).sum())
    by_chance = (drawn > critical + SAME).sum(axis=1)
    p = (float((by_chance >= count).sum()) + 1.0) / (len(drawn) + 1.0)
    most = int(np.quantile(by_chance, 0.95, method="higher"))
    return ClearCount(count, len(values), float(by_chance.mean()), most, p)
