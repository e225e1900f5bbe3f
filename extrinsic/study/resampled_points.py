"""Metrics and targets of every tracker on every dataset, on every resample of dialogs.

Only tables that choices will replace are made of them; everything else is made of the `Panel`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.partial import partial_permutation_test
from extrinsic.correlation.resampling import Sample, draw_trackers, resampled_correlations
from extrinsic.panel import item_weights
from extrinsic.study.score_stage import Measurements, metric_of
from extrinsic.verdict.coefficients import DIGITS, Coefficient, Scope, correlate
from extrinsic.verdict.intervals import PermutationTest, draw_permutations, permutation_test, without_each

T = TypeVar("T")

MetricName = tuple[str, int, str, str | None]
"""Metric, schedule, component, label scheme."""


@dataclass(frozen=True, eq=False)
class TargetValue:
    """A target of a tracker on a dataset.

    influence (n_dialogs,): of each dialog.   dialogs: the identity of these dialogs, by which they are
    resampled (the dataset's own, or the callers of live play).
    """

    mean: float
    influence: Floats
    dialogs: str


@dataclass(frozen=True, eq=False)
class ResampledPoints:
    """metrics, targets: names, in the order of the sample's rows.

    contributions: per dataset (n_metrics, n_trackers, n_dialogs) what every dialog adds to a metric.
    group: which trackers, `all` or `core`.   variant: how policies were learned, e.g. `fill=argmax`.
    """

    datasets: tuple[str, ...]
    trackers: tuple[str, ...]
    metrics: tuple[MetricName, ...]
    targets: tuple[str, ...]
    sample: Sample
    contributions: tuple[Floats, ...]
    group: str = "all"
    variant: str | None = None
    _made: dict[object, Any] = field(init=False, repr=False, default_factory=dict)
    """What several tables read, made once."""

    def correlations(self, coefficient: Coefficient, scope: Scope) -> Floats:
        """(n_metrics, n_targets)"""
        values = self.sample.metrics, self.sample.targets
        return self._once(("r", coefficient, scope), lambda: correlate(*values, coefficient, scope))

    def left_out(self, coefficient: Coefficient, scope: Scope) -> Floats:
        """(n_trackers, n_metrics, n_targets) correlations without each tracker."""
        values = self.sample.metrics, self.sample.targets
        return self._once(("left out", coefficient, scope), lambda: without_each(*values, coefficient, scope))

    def resampled(self, seed: int) -> Floats:
        """(n_resamples, n_metrics, n_targets) Pearson's r within datasets, dialogs and trackers resampled."""

        def make() -> Floats:
            drawn = draw_trackers(self.identity, len(self.trackers), self.sample.n_resamples, seed)
            return resampled_correlations(self.sample, "pearson", "within", "both", drawn)

        return self._once(("resampled", seed), make)

    def permuted(self, most: int, seed: int, given: str | None = None) -> PermutationTest:
        """Pearson's r within datasets of every metric and target; given: a target, of the others then."""

        def make() -> PermutationTest:
            sample, drawn = self.sample, draw_permutations(self.identity, len(self.trackers), most, seed)
            if given is None:
                return permutation_test(sample.metrics, sample.targets, "pearson", "within", drawn)
            is_given = np.array([name == given for name in self.targets])
            goals, beside = sample.targets[~is_given], sample.targets[is_given]
            return partial_permutation_test(sample.metrics, goals, beside, "within", drawn)

        return self._once(("permuted", most, seed, given), make)

    def _once(self, key: object, make: Callable[[], T]) -> T:
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    @property
    def n_points(self) -> int:
        return len(self.datasets) * len(self.trackers)

    @property
    def identity(self) -> str:
        """The identity that draws of trackers depend on."""
        return " ".join(self.trackers)

    def take_trackers(self, chosen: Ints, group: str | None = None) -> ResampledPoints:
        """Some of the trackers; group: what they are called."""
        return replace(
            self,
            group=self.group if group is None else group,
            trackers=tuple(self.trackers[i] for i in chosen),
            sample=self.sample.take_trackers(chosen),
            contributions=tuple(part[:, chosen] for part in self.contributions),
        )


def oriented_metrics(measured: Measurements) -> dict[MetricName, tuple[int, float]]:
    """The row of each metric, and the sign that makes higher better; without those that have no direction."""
    signs = {}
    for number, row in enumerate(measured.rows):
        higher = metric_of(row.metric).higher_is_better
        if higher is not None:
            signs[row.name] = (number, 1.0 if higher else -1.0)
    return signs


def build_panel(
    dialogs: Mapping[str, str],
    trackers: Sequence[str],
    targets: Sequence[str],
    measured: Mapping[tuple[str, str], Measurements],
    valued: Mapping[tuple[str, str], Mapping[str, TargetValue]],
    resamples: int,
    seed: int,
    with_contributions: bool = True,
) -> ResampledPoints:
    """dialogs: of each dataset, the identity of its dialogs; measured and valued: by (dataset, tracker).

    Contributions cost half as much as the resamples, and only pairs of metrics need them.
    """
    datasets = tuple(dialogs)
    first = oriented_metrics(measured[datasets[0], trackers[0]])
    metrics = tuple(first)
    shape = (len(metrics), len(datasets), len(trackers))
    values, drawn = np.full(shape, np.nan), np.empty((resamples, *shape))
    goals = np.full((len(targets), *shape[1:]), np.nan)
    goals_drawn = np.empty((resamples, *goals.shape))
    contributions = []
    for d, dataset in enumerate(datasets):
        n_dialogs = measured[dataset, trackers[0]].n_dialogs
        weights = {dialogs[dataset]: item_weights(dialogs[dataset], n_dialogs, resamples, seed)}
        # Every dialog left out in turn, behind the draws: ROC curves cost more by the call than by the row.
        left_out = 1 - np.eye(n_dialogs if with_contributions else 0, n_dialogs, dtype=np.int64)
        # Counts are small, and small integers are summed faster; sums go dialog by dialog.
        counts = np.asfortranarray(np.concatenate([weights[dialogs[dataset]], left_out]), dtype=np.int16)
        each = np.empty((len(metrics), len(trackers), n_dialogs if with_contributions else 0))
        for t, tracker in enumerate(trackers):
            cell = measured[dataset, tracker]
            signs = oriented_metrics(cell)
            rows, sign = np.array([signs[name] for name in metrics]).T
            order = rows.astype(np.int64)
            scores = np.array([cell.rows[i].value for i in order], dtype=np.float64)
            values[:, d, t] = scores * sign
            resampled = cell.resampled(counts)[order]
            drawn[:, :, d, t] = (resampled[:, :resamples] * sign[:, None]).T
            if with_contributions:
                each[:, t] = _contributions(scores, resampled[:, resamples:]) * sign[:, None]
            for k, target in enumerate(targets):
                value = valued[dataset, tracker][target]
                if value.dialogs not in weights:
                    weights[value.dialogs] = item_weights(
                        value.dialogs, len(value.influence), resamples, seed
                    )
                goals[k, d, t] = value.mean
                drawn_value = value.mean + (weights[value.dialogs] - 1.0) @ value.influence
                # A share that is 0 in a resample must be 0, not what rounding leaves of it.
                goals_drawn[:, k, d, t] = np.round(drawn_value, DIGITS)
        contributions.append(each)
    sample = Sample(values, goals, drawn, goals_drawn)
    return ResampledPoints(datasets, tuple(trackers), metrics, tuple(targets), sample, tuple(contributions))


def _contributions(value: Floats, without: Floats) -> Floats:
    """(n_metrics, n_dialogs) parts that sum to the values (n_metrics,), from those without each dialog."""
    n_dialogs = without.shape[1]
    away = np.where(np.isnan(without), 0.0, value[:, None] - without) * (n_dialogs - 1) / n_dialogs
    return np.asarray(value[:, None] / n_dialogs + away - away.mean(axis=1, keepdims=True))
