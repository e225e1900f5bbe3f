"""What an estimator says a policy is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from extrinsic.arrays import Floats

ResampledOver = Literal["dialogs", "callers"]
"""What the influence of a value is of: the logged dialogs, or the callers of live play."""

RESAMPLES = 1_000
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Value:
    """An estimate of the expected return, undiscounted.

    low, high: a 95 % interval over resampled dialogs.   n: how many dialogs.
    influence (n,): how the estimate moves with the weight of each dialog, to first order: that of a resample
    with weights w is mean + (w - 1) @ influence. Nothing has to be fitted again.
    diagnostics: numbers by which to judge it.   flags: what they say against it, in one word each.
    resampled_over: whether it is of the logged dialogs or of callers of live play.
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

    def resampled(self, weights: Floats) -> Floats:
        """(k,) the estimates of resamples with weights (k, n)."""
        return np.asarray(self.mean + (weights - 1.0) @ self.influence)


@lru_cache(maxsize=4)
def _changes(n: int, seed: int) -> Floats:
    """(RESAMPLES, n) by how much the weights of dialogs differ from 1; the same for all n dialogs."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(n,)))
    return np.asarray(rng.multinomial(n, np.full(n, 1.0 / n), RESAMPLES) - 1.0)


def value_of(
    estimator: str,
    mean: float,
    influence: Floats,
    diagnostics: Mapping[str, float],
    resampled_over: ResampledOver = "dialogs",
    seed: int = 0,
) -> Value:
    """A Value with the interval that its influence gives."""
    n = len(influence)
    estimates = mean + _changes(n, seed) @ influence
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(estimates, [tail, 100.0 - tail])
    return Value(
        estimator,
        float(mean),
        float(low),
        float(high),
        n,
        influence,
        dict(diagnostics),
        resampled_over=resampled_over,
    )
