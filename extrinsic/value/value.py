"""The result of an estimator, and differences and means of results, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.tables import html_table

ResampledOver = Literal["dialogs", "callers"]
"""The dialogs that a value's influence refers to: the logged ones, or those of live play."""

RESAMPLES = 1_000
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Value:
    """An estimate of the expected return, undiscounted.

    low, high: a 95 % interval over resampled dialogs.   n: how many dialogs.
    influence (n,): the first-order change of the estimate with the weight of each dialog: a resample with
    weights w has the estimate mean + (w - 1) @ influence. Nothing has to be fitted again.
    diagnostics: numbers by which to judge it.   flags: names of the diagnostics that are out of bounds.
    resampled_over: whether `influence` refers to the logged dialogs or to those of live play.
    components: the influence (n,) on other values of the same dialogs, by name.
    """

    estimator: str
    mean: float
    low: float
    high: float
    n: int
    influence: Floats
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    resampled_over: ResampledOver = "dialogs"
    components: Mapping[str, Floats] = field(default_factory=dict)

    def __repr__(self) -> str:
        flags = f", flags: {', '.join(self.flags)}" if self.flags else ""
        return (
            f"<Value {self.estimator}: {self.mean:.2f} [{self.low:.2f}, {self.high:.2f}], "
            f"{self.n:,} {self.resampled_over}{flags}>"
        )

    def _repr_html_(self) -> str:
        rows = [{"diagnostic": name, "value": number} for name, number in self.diagnostics.items()]
        return html_table(repr(self).strip("<>"), rows)

    def resampled(self, weights: Floats) -> Floats:
        """(k,) the estimates of resamples with weights (k, n)."""
        return np.asarray(self.mean + (weights - 1.0) @ self.influence)


@lru_cache(maxsize=4)
def _changes(n: int, seed: int) -> Floats:
    """(RESAMPLES, n) the resampled weights of n dialogs minus 1; the same for every value over n dialogs."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(n,)))
    return np.asarray(rng.multinomial(n, np.full(n, 1.0 / n), RESAMPLES) - 1.0)


def mean_of_dialogs(
    estimator: str,
    numbers: Floats,
    diagnostics: Mapping[str, float] | None = None,
    resampled_over: ResampledOver = "dialogs",
) -> Value:
    """The mean of one number a dialog, with its interval."""
    influence = (numbers - numbers.mean()) / len(numbers)
    return value_of(estimator, float(numbers.mean()), influence, diagnostics or {}, resampled_over)


def interval(mean: float, influences: Sequence[Floats], seed: int = 0) -> tuple[float, float]:
    """A 95 % interval; influences: of dialogs in groups that are resampled independently."""
    changes = [_changes(len(group), seed + number) @ group for number, group in enumerate(influences)]
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(mean + sum(changes[1:], changes[0]), [tail, 100.0 - tail])
    return float(low), float(high)


def value_of(
    estimator: str,
    mean: float,
    influence: Floats,
    diagnostics: Mapping[str, float],
    resampled_over: ResampledOver = "dialogs",
    seed: int = 0,
) -> Value:
    """A Value with the interval that its influence gives."""
    low, high = interval(mean, [influence], seed)
    return Value(
        estimator,
        float(mean),
        low,
        high,
        len(influence),
        influence,
        dict(diagnostics),
        resampled_over=resampled_over,
    )


@dataclass(frozen=True, eq=False)
class Paired:
    """A value, or a linear combination of values, and the influence of every dialog on it.

    influence: (n,) arrays by the name of the dialogs they refer to; groups are resampled independently.
    parts: the same value by each part of an estimator that is a mean of others. Their disagreement is a bias
    that dialogs do not show; half of it widens the interval, as it does for the value itself.
    """

    mean: float
    influence: Mapping[str, Floats]
    parts: Mapping[str, float] = field(default_factory=dict)

    def minus(self, other: Paired) -> Paired:
        """The difference; what only the other lacks parts for is taken from its mean."""
        return _combined([(1.0, self), (-1.0, other)])

    def interval(self) -> tuple[float, float]:
        """A 95 % interval."""
        low, high = interval(self.mean, [self.influence[name] for name in sorted(self.influence)])
        spread = max(self.parts.values()) - min(self.parts.values()) if self.parts else 0.0
        below, above = np.hypot([self.mean - low, high - self.mean], spread / 2.0)
        return float(self.mean - below), float(self.mean + above)


def mean_of(values: Sequence[Paired]) -> Paired:
    return _combined([(1.0 / len(values), value) for value in values])


def _combined(terms: Sequence[tuple[float, Paired]]) -> Paired:
    influence: dict[str, Floats] = {}
    for weight, value in terms:
        for name, numbers in value.influence.items():
            influence[name] = influence.get(name, 0.0) + weight * numbers
    names = {name for _, value in terms for name in value.parts}
    parts = {
        name: float(sum(weight * value.parts.get(name, value.mean) for weight, value in terms))
        for name in sorted(names)
    }
    return Paired(float(sum(weight * value.mean for weight, value in terms)), influence, parts)
