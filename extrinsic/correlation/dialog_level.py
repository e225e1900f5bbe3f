"""Dialogs of systems as points: does a metric predict which dialogs go well?

Splits as in `two_way`: `within` a system (every system's mean subtracted: which of its dialogs go well),
`dialog` (every dialog's mean subtracted: which system does better on the same item), `both` centred, and for
comparison `between` systems and `pooled`. Intervals resample systems and dialogs (the pigeonhole bootstrap),
or dialogs alone: then for these systems only. Ties are handled as in WMT's metrics task (`tie_calibration`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.correlation.estimate import Estimate
from extrinsic.correlation.partial import partial_scatter, scatter_correlations
from extrinsic.correlation.tie_calibration import Grouping, TieCalibration, tie_calibration
from extrinsic.correlation.two_way import (
    SPLITS,
    Split,
    TwoWaySums,
    TwoWayWeights,
    draw_two_way,
    two_way_scatter,
)
from extrinsic.errors import UsageError

BOTH, DIALOGS = "both", "dialogs"
"""Systems and dialogs resampled (Owen's pigeonhole bootstrap, 2007); or dialogs alone: these systems."""

GROUPED: dict[Split, Grouping] = {"within": "system", "dialog": "item", "pooled": "none"}
"""The pairs of points that a split compares."""


@dataclass(frozen=True, eq=False)
class Scatters:
    """Sums of products by split: as observed (k, k), and under every way of weighting (n, k, k)."""

    names: tuple[str, ...]
    observed: dict[Split, Floats]
    weighted: dict[str, dict[Split, Floats]]

    @staticmethod
    def of_values(
        values: Floats, present: Bools, names: Sequence[str], weights: Mapping[str, TwoWayWeights]
    ) -> Scatters:
        """values (k, n_systems, n_dialogs), NaN where not present (n_systems, n_dialogs)."""
        sums = TwoWaySums.of(values, present)
        observed = two_way_scatter(sums, TwoWayWeights.observed(*present.shape))
        return Scatters(
            tuple(names),
            {split: scatter[0] for split, scatter in observed.items()},
            {way: two_way_scatter(sums, each) for way, each in weights.items()},
        )

    def at(self, names: Sequence[str]) -> list[int]:
        return [self.names.index(name) for name in names]

    def r(self, scatter: Floats, metrics: Sequence[str], outcome: str, given: Sequence[str] = ()) -> Floats:
        """(..., n_metrics) correlations with an outcome, what is `given` held fixed."""
        left = partial_scatter(scatter, self.at(given)) if given else scatter
        return np.asarray(scatter_correlations(left, self.at(metrics), self.at([outcome]))[..., 0])

    def estimate(
        self, split: Split, metrics: Sequence[str], outcome: str, given: Sequence[str] = (), way: str = BOTH
    ) -> Estimate:
        """(n_metrics,) as `r`, on resamples."""
        resampled = self.r(self.weighted[way][split], metrics, outcome, given)
        return Estimate(self.r(self.observed[split], metrics, outcome, given), resampled)


@dataclass(frozen=True, eq=False)
class DialogLevel:
    """One split: r (n_metrics,), its interval over systems and dialogs, and over dialogs alone.

    ties: of each metric, the accuracy of pairs with calibrated ties; empty where a split has no pairs of
    points.
    """

    split: Split
    r: Floats
    low: Floats
    high: Floats
    dialogs_low: Floats
    dialogs_high: Floats
    ties: tuple[TieCalibration, ...]


def dialog_level(
    metrics: Floats,
    outcome: Floats,
    systems: Sequence[str],
    dialogs: Sequence[str],
    n_resamples: int,
    seed: int,
    level: float = 0.95,
) -> tuple[DialogLevel, ...]:
    """Every split of metrics (n_metrics, n_systems, n_dialogs) with outcome (n_systems, n_dialogs).

    A point with a NaN in any of them is left out of all.

    >>> rng = np.random.default_rng(0)
    >>> outcome = rng.normal(size=(3, 40))
    >>> metrics = outcome + rng.normal(size=(2, 3, 40))
    >>> made = dialog_level(metrics, outcome, "abc", [str(i) for i in range(40)], 200, seed=0)
    >>> [split.split for split in made]
    ['pooled', 'between', 'within', 'dialog', 'both']
    >>> within = made[2]
    >>> bool((within.low < within.r).all() and (within.r < within.high).all()), len(within.ties)
    (True, 2)
    """
    shape = (len(systems), len(dialogs))
    if metrics.shape[1:] != shape or outcome.shape != shape:
        raise UsageError(
            "metrics and outcome must have a value of every system on every dialog",
            expected=f"(n_metrics, {shape[0]}, {shape[1]}) and {shape}",
            found=f"{metrics.shape} and {outcome.shape}",
        )
    values = np.concatenate([metrics, outcome[None]])
    present = ~np.isnan(values).any(axis=0)
    values = np.where(present, values, np.nan)
    drawn = draw_two_way(systems, dialogs, n_resamples, seed)
    names = [str(number) for number in range(len(values))]
    ways = {BOTH: drawn, DIALOGS: drawn.dialogs_alone()}
    scatters = Scatters.of_values(values, present, names, ways)
    made = []
    for split in SPLITS:
        r, alone = (scatters.estimate(split, names[:-1], names[-1], way=way) for way in (BOTH, DIALOGS))
        compared = values[:-1] if split in GROUPED else ()
        ties = [tie_calibration(metric, values[-1], GROUPED[split]) for metric in compared]
        made.append(DialogLevel(split, r.value, *r.interval(level), *alone.interval(level), tuple(ties)))
    return tuple(made)
