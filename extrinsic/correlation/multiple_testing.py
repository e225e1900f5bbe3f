"""p-values of many metrics at once: Holm (1979), Benjamini and Hochberg (1995), Westfall and Young (1993)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats

SAME = 1e-9
"""Statistics nearer than this count as equal, so that rounding does not decide a p-value."""


def holm(p: Floats) -> Floats:
    """(n,) p-values that keep the chance of even one false finding; NaN are ignored and stay NaN.

    Sorted, p_(i) becomes max over j <= i of (n - j + 1) p_(j), at most 1.

    >>> holm(np.array([0.01, np.nan, 0.04, 0.02])).tolist()
    [0.03, nan, 0.04, 0.04]
    """
    p = np.asarray(p, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    factors = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """(n,) p-values that keep the expected share of false findings; NaN are ignored and stay NaN.

    Sorted, p_(i) becomes min over j >= i of n / j p_(j), at most 1.

    >>> benjamini_hochberg(np.array([0.01, np.nan, 0.04, 0.02])).tolist()
    [0.03, nan, 0.04, 0.03]
    """
    p = np.asarray(p, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(-p[defined], kind="stable")]
    factors = len(order) / np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.minimum.accumulate(factors * p[order]), 1.0)
    return adjusted


def max_t_p(observed: Floats, null: Floats) -> Floats:
    """(n,) p-values that keep the chance of even one false finding, by the largest of all statistics.

    observed (n,): how far each statistic lies from nothing.   null (n_draws, n): the same where there is
    nothing (permuted, or resampled and centred), drawn together. From the largest down, p_(i) = (1 + how many
    draws have a maximum over (i), (i + 1), ... of at least observed_(i)) / (1 + n_draws), never below p_(i -
    1): Westfall and Young (1993). Unlike Holm's, it does not pay for statistics that say the same. NaN are
    ignored and stay NaN.

    >>> null = np.array([[0.1, 0.2], [0.3, 0.6], [0.8, 0.1]])
    >>> max_t_p(np.array([0.7, 0.5]), null).tolist()
    [0.5, 0.5]
    """
    adjusted = np.full(observed.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(observed))
    order = defined[np.argsort(-observed[defined], kind="stable")]
    # A draw on which a statistic is undefined says nothing for it.
    drawn = np.nan_to_num(null[:, order], nan=-np.inf)
    largest = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
    count = (largest >= observed[order] - SAME).sum(axis=0)
    adjusted[order] = np.maximum.accumulate((count + 1.0) / (len(null) + 1.0))
    return adjusted


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
