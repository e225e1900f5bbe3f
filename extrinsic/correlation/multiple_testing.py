"""p-values of many metrics at once: Holm (1979), and Benjamini and Hochberg (1995)."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Floats


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
    from scipy.stats import false_discovery_control  # takes most of a second to import

    p = np.asarray(p, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    defined = ~np.isnan(p)
    adjusted[defined] = false_discovery_control(p[defined])
    return adjusted
