"""The result of an estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.notebook import html_table

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
    components: of a value that a study combines anew, the influence (n,) on its parts, by name.
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


def mean_of_values(estimator: str, values: Sequence[Value]) -> Value:
    """The mean of values over the same dialogs; what they report is averaged, their flags are joined."""
    first, n_values = values[0], len(values)
    influence = sum((value.influence for value in values[1:]), first.influence) / n_values
    low = sum(value.low for value in values) / n_values
    high = sum(value.high for value in values) / n_values
    return replace(
        first,
        estimator=estimator,
        mean=sum(value.mean for value in values) / n_values,
        low=low,
        high=high,
        influence=influence,
        diagnostics={
            name: sum(value.diagnostics[name] for value in values) / n_values for name in first.diagnostics
        },
        flags=tuple(dict.fromkeys(flag for value in values for flag in value.flags)),
        components={
            name: sum((value.components[name] for value in values[1:]), first.components[name]) / n_values
            for name in first.components
        },
    )


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
