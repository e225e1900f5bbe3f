"""Prices of errors: what a unit of dose costs, in a return or in a metric, and where the two disagree.

The same units (callers, or trackers in worlds) meet every dose, so each has a slope of its own:
p_i = sum_d d (y_id - y_i0) / sum_d d^2, a line through what it has without the error. The price is their
mean, and its interval comes from their spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError


@dataclass(frozen=True)
class Price:
    """The change by a whole dose, with a 95 % interval over n units; below 0 the error costs something.

    bend: the change at the largest dose over what the line says; far from 1 the price is not a constant.
    """

    value: float
    low: float
    high: float
    n: int
    bend: float


def price_of(doses: Sequence[float], outcomes: Floats, without: Floats) -> Price:
    """The price of an error from outcomes (n_doses, n) at given doses, and without it (n,).

    >>> price = price_of([0.1, 0.2], np.array([[9.0, 18.0], [8.0, 16.0]]), np.array([10.0, 20.0]))
    >>> print(f"{price.value:.0f} {price.bend:.0f}")
    -15 1
    """
    from scipy.stats import t

    amounts, changes = np.asarray(doses, dtype=np.float64), np.asarray(outcomes) - np.asarray(without)
    if changes.ndim != 2 or changes.shape[0] != len(amounts) or changes.shape[1] < 2:
        raise UsageError(
            "a price needs outcomes of at least two units at every dose",
            expected=f"({len(amounts)}, 2 or more)",
            found=str(changes.shape),
        )
    if not len(amounts) or not (np.isfinite(amounts) & (amounts != 0.0)).all():
        raise UsageError("a price needs doses other than 0", found=str(list(doses)))
    slopes = amounts @ changes / (amounts**2).sum()
    value, n = float(slopes.mean()), len(slopes)
    half = float(t.ppf(0.975, n - 1) * slopes.std(ddof=1) / n**0.5)
    largest = int(np.abs(amounts).argmax())
    predicted = value * amounts[largest]
    bend = float(changes[largest].mean() / predicted) if abs(predicted) > 1e-12 else float("nan")
    return Price(value, value - half, value + half, n, bend)


def relative_prices(prices: Mapping[str, float]) -> dict[str, float]:
    """Prices as shares of what all kinds of errors cost together: comparable between a return and a metric.

    >>> relative_prices({"wrong": -30.0, "missed": -10.0})
    {'wrong': -0.75, 'missed': -0.25}
    """
    whole = sum(abs(price) for price in prices.values())
    return {kind: price / whole if whole > 0.0 else 0.0 for kind, price in prices.items()}


def disagreement(metric: Mapping[str, float], outcome: Mapping[str, float]) -> dict[str, float]:
    """By kind of error, how much more of a metric's price it has than of the outcome's.

    Below 0 the metric is blind to the error, above 0 over-strict; both have to become worse by errors.

    >>> disagreement({"a": -1.0, "b": 0.0}, {"a": -30.0, "b": -10.0})
    {'a': 0.25, 'b': -0.25}
    """
    if set(metric) != set(outcome):
        raise UsageError(
            "prices of different errors cannot be compared",
            expected=", ".join(sorted(outcome)),
            found=", ".join(sorted(metric)),
        )
    own, wanted = relative_prices(metric), relative_prices(outcome)
    return {kind: wanted[kind] - own[kind] for kind in outcome}


def priced_form(prices: Mapping[str, float], digits: int = 2) -> str:
    """The designed metric of prices, in its printed form: `priced(wrong=0.5, missed=0.3, ...)`.

    A price above 0 (an error that pays) counts as 0: a metric does not reward errors.

    >>> priced_form({"wrong": -30.0, "missed": -10.0, "overshot": 2.0, "stale": -10.0})
    'priced(wrong=0.6, missed=0.2, overshot=0, stale=0.2)'
    """
    shares = relative_prices({kind: min(price, 0.0) for kind, price in prices.items()})
    parts = [f"{kind}={round(abs(share), digits):g}" for kind, share in shares.items()]
    return f"priced({', '.join(parts)})"
