"""p-values of many metrics at once: Holm (1979), and Benjamini and Hochberg (1995)."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats


def holm(p: Floats) -> Floats:
    """(n,) p-values that keep the chance of even one false finding; NaN are left out and stay."""
    return _adjusted(p, lambda sorted_p, rank, n: np.maximum.accumulate((n - rank) * sorted_p))


def benjamini_hochberg(p: Floats) -> Floats:
    """(n,) p-values that keep the expected share of false findings; NaN are left out and stay."""
    return _adjusted(
        p, lambda sorted_p, rank, n: np.minimum.accumulate((n / (rank + 1) * sorted_p)[::-1])[::-1]
    )


def _adjusted(p: Floats, rule) -> Floats:  # type: ignore[no-untyped-def]
    p = np.asarray(p, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    there = np.flatnonzero(~np.isnan(p))
    order = there[np.argsort(p[there], kind="stable")]
    adjusted[order] = np.minimum(rule(p[order], np.arange(len(order)), len(order)), 1.0)
    return adjusted
