"""Two metrics against the same target: are their correlations different? Closed forms for Pearson's r.

Both assume that the n points are independent draws. A study's points (the same trackers on several datasets)
are not; resampled and permuted differences do not assume it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.errors import UsageError

ROUNDING, SINGULAR = 1e-9, 1e-7
"""Correlations this close are equal, and a determinant this small is noise: another processor has others."""


@dataclass(frozen=True)
class Williams:
    """Williams's t for r12 - r13, and its two-sided p-value with n - 3 degrees of freedom."""

    t: float
    p: float


def williams(r12: float, r13: float, r23: float, n: float) -> Williams:
    """Williams (1959), as Steiger (1980) recommends it.

    t = (r12 - r13) sqrt((n-1)(1+r23) / (2 (n-1)/(n-3) |R| + rbar^2 (1-r23)^3)), where |R| is the determinant
    of the three correlations and rbar the mean of r12 and r13.
    """
    _check(r12, r13, r23, n)
    from scipy.special import stdtr

    determinant = 1.0 - r12**2 - r13**2 - r23**2 + 2.0 * r12 * r13 * r23
    mean = (r12 + r13) / 2.0
    denominator = 2.0 * (n - 1) / (n - 3) * determinant + mean**2 * (1.0 - r23) ** 3
    if abs(r12 - r13) <= ROUNDING:
        return Williams(0.0, 1.0)
    if determinant < SINGULAR:
        # The two metrics are nearly the same: what is left of the determinant is rounding.
        return Williams(np.nan, np.nan)
    t = (r12 - r13) * np.sqrt((n - 1) * (1.0 + r23) / denominator)
    return Williams(float(t), float(2.0 * stdtr(n - 3, -abs(t))))


def fisher_interval(r: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """tanh(atanh(r) -+ z / sqrt(n - 3))."""
    from scipy.special import ndtri

    if n <= 3:
        raise UsageError("an interval of a correlation needs more than three points", found=str(n))

    if abs(r) >= 1.0:
        return r, r
    half = ndtri((1.0 + level) / 2.0) / np.sqrt(n - 3)
    return float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))


def zou_interval(r12: float, r13: float, r23: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Zou (2007): an interval of r12 - r13 from those of r12 and r13 and the correlation of the two."""
    _check(r12, r13, r23, n)
    if abs(r12) >= 1.0 or abs(r13) >= 1.0:
        return np.nan, np.nan
    together = ((r23 - 0.5 * r12 * r13) * (1.0 - r12**2 - r13**2 - r23**2) + r23**3) / (
        (1.0 - r12**2) * (1.0 - r13**2)
    )
    low1, high1 = fisher_interval(r12, n, level)
    low2, high2 = fisher_interval(r13, n, level)
    below = (r12 - low1) ** 2 + (high2 - r13) ** 2 - 2.0 * together * (r12 - low1) * (high2 - r13)
    above = (high1 - r12) ** 2 + (r13 - low2) ** 2 - 2.0 * together * (high1 - r12) * (r13 - low2)
    difference = r12 - r13
    return difference - float(np.sqrt(max(below, 0.0))), difference + float(np.sqrt(max(above, 0.0)))


def _check(r12: float, r13: float, r23: float, n: float) -> None:
    for name, r in (("r12", r12), ("r13", r13), ("r23", r23)):
        if not -1.0 <= r <= 1.0:
            raise UsageError(f"{name} must be a correlation", expected="a number from -1 to 1", found=str(r))
    if n <= 3:
        raise UsageError("dependent correlations need more than three points", found=str(n))
