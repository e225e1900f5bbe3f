"""Power: how many trackers does it take until an interval excludes 0?

The error of a correlation, and of a difference of two, falls as c / sqrt(n - 3) with the number n of trackers
(Fisher 1921); that of a mean as c / sqrt(n). `lost` is the 3 or the 0. Given the error at some n, a
number is resolved with probability `power` by an interval of `level` where

    |value| / error(n) = z((1 + level) / 2) + z(power),      2.80 for 95 % and .8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.errors import UsageError

CORRELATION, MEAN = 3, 0
"""`lost` for a correlation or a difference of two, and for a mean."""

LARGEST = 10**6
"""Returned for any larger number, and for a value of 0, which is never resolved."""


@dataclass(frozen=True)
class TrackersNeeded:
    """Numbers of trackers: if the value is as estimated, at the far and at the near end of its interval.

    most: None where the interval includes 0, since then no number may be enough.
    """

    needed: int
    fewest: int
    most: int | None


def trackers_needed(
    value: float,
    error: float,
    n_trackers: int,
    lost: int = CORRELATION,
    level: float = 0.95,
    power: float = 0.8,
) -> int:
    """n = lost + (n_trackers - lost) (z error / |value|)^2, rounded up; `error` is that at n_trackers.

    The textbook's number for a correlation of .5 comes from the error 1 / sqrt(n - 3) of atanh(r):

    >>> trackers_needed(float(np.arctanh(0.5)), error=1.0, n_trackers=4)
    30
    >>> trackers_needed(value=0.14, error=0.1, n_trackers=20, lost=MEAN)
    81
    """
    from scipy.special import ndtri

    if n_trackers <= lost:
        raise UsageError(
            "the error must come from enough trackers", expected=f"more than {lost}", found=str(n_trackers)
        )
    if np.isnan(value) or np.isnan(error):
        raise UsageError("power needs a value and its error", found=f"{value} and {error}")
    if value == 0.0:
        return LARGEST
    reach = ndtri((1.0 + level) / 2.0) + ndtri(power)
    number = lost + (n_trackers - lost) * (reach * error / abs(value)) ** 2
    return int(min(max(np.ceil(number), lost + 1), LARGEST))


def trackers_needed_range(
    value: float,
    interval: tuple[float, float],
    error: float,
    n_trackers: int,
    lost: int = CORRELATION,
    level: float = 0.95,
    power: float = 0.8,
) -> TrackersNeeded:
    """`trackers_needed` for the value and for both ends of its interval.

    >>> trackers_needed_range(0.2, (0.05, 0.4), error=0.1, n_trackers=20)
    TrackersNeeded(needed=37, fewest=12, most=537)
    """
    low, high = interval
    near, far = sorted((abs(low), abs(high)))
    needed, fewest, most = (
        trackers_needed(number, error, n_trackers, lost, level, power) for number in (value, far, near)
    )
    return TrackersNeeded(needed, fewest, None if low <= 0.0 <= high else most)


def error_scale(errors: Sequence[tuple[int, float]], lost: int = CORRELATION) -> float:
    """c of error = c / sqrt(n - lost), by least squares of the logarithms; errors: pairs (n, error).

    >>> print(f"{error_scale([(7, 1.0), (19, 0.5)]):.1f}")
    2.0
    """
    return float(np.exp(np.mean([np.log(error * np.sqrt(n - lost)) for n, error in errors])))


def share_resolved(value: float, error: float, share: float, level: float = 0.95) -> float:
    """How often the interval of a subset excludes 0, on the side of the value over all trackers.

    Phi((|value| - z error) / (error sqrt(1 - share))). A subset of a `share` of the trackers differs from all
    of them by only error sqrt(1 - share), since they are a finite population (Cochran 1977); its interval
    is computed as if of an infinite one, and reaches z errors.

    >>> print(f"{share_resolved(1.96, 1.0, 0.5):.2f} {share_resolved(3.0, 1.0, 0.5):.2f}")
    0.50 0.93
    """
    from scipy.special import ndtr, ndtri

    away = abs(value) - ndtri((1.0 + level) / 2.0) * error
    return float(ndtr(away / (error * np.sqrt(1.0 - share))))
