"""The swap stage: trackers x generators; metrics against outcomes, and what each kind of error costs.

Where each system has its own responses, and outcomes come from a table of dialogs, dialogs alone are points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
from threadpoolctl import threadpool_limits

from extrinsic.arrays import Floats
from extrinsic.correlation.best_set import BestSet, best_set
from extrinsic.correlation.dialog_level import Scatters
from extrinsic.correlation.two_way import Split, TwoWayWeights
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.correlation_stage import CorrelationTask, best_set_row
from extrinsic.study.evaluation import ERRORS, GENERATORS, KINDS
from extrinsic.study.policy_spec import PolicyValues
from extrinsic.study.resampled_points import ResampledPoints
from extrinsic.study.store import Result, Results, StageKey, code_version
from extrinsic.study.tables import CostRow, SwapRow
from extrinsic.tables import plain
from extrinsic.verdict.correlations import FEWEST_TRACKERS
from extrinsic.verdict.item_level import CrossedWeights, crossed_interval, dialog_sums, tracker_sums
from extrinsic.verdict.rows import BestSetRow

REFERENCE = "jga"
"""The metric that the others are compared to, where a study has it."""

EVERY, OWN = "all", "own"
OWN_LEVELS: tuple[Split, ...] = ("within", "dialog")
SAME = 1e-12
BOOKING = frozenset({"people", "stay", "hotel-day", "restaurant-day", "restaurant-time"})
"""The slots of MultiWOZ that no database is asked for; all others are search values."""


class SwapTables(msgspec.Struct, frozen=True, kw_only=True):
    """What the stage stores: rows of swap.csv and costs.csv.

    best_set: of outcomes under several generators, in place of those by their means.
    """

    swap: list[SwapRow]
    costs: list[CostRow]
    best_set: list[BestSetRow]


@dataclass(frozen=True)
class SwapTask:
    """Correlate metrics and outcomes over trackers x generators; correlation: the stage that has the panel.

    outcomes: the names, in the order of the evaluated arrays.   slots: of all systems, as their errors are
    stored.
    """

    correlation: CorrelationTask
    outcomes: tuple[str, ...]
    generators: tuple[str, ...]
    slots: tuple[tuple[str, str], ...]

    label: str = "swaps"

    @property
    def inputs(self) -> tuple[StageKey, ...]:
        return self.correlation.inputs

    @cached_property
    def key(self) -> StageKey:
        settings = encode_json((self.outcomes, self.generators, self.slots))
        parts = (code_version("verdict", "correlation"), self.correlation.key.hash, settings)
        return StageKey("swap", content_hash("swap", *parts))

    def run(self, results: Results) -> Result[SwapTables]:
        panel = self.correlation.panel(results)
        stored = []
        for tracker in panel.trackers:
            (key,) = self.correlation.valued[tracker]
            stored.append(Result.decode(results.read(key), key, PolicyValues))
        # (n_outcomes, n_generators, n_trackers, n_dialogs), with one generator where each system has its own.
        reached = np.stack([_outcomes(part, self.outcomes) for part in stored], axis=2)
        by_target = {f"outcome.{name}": part for name, part in zip(self.outcomes, reached, strict=True)}
        # The study's primary target first.
        by_target = dict(sorted(by_target.items(), key=lambda item: item[0] != panel.targets[0]))
        # Of each (3, n_slots, n_dialogs).
        errors = [part.arrays[ERRORS] for part in stored] if self.generators else []
        core = np.array(
            [i for i, name in enumerate(panel.trackers) if name in self.correlation.core], dtype=np.int64
        )
        everyone = np.arange(len(panel.trackers))
        swap: list[SwapRow] = []
        costs: list[CostRow] = []
        best: list[BestSetRow] = []
        with threadpool_limits(1, user_api="blas"):
            for group, chosen in (("all", everyone), ("core", core)):
                if len(chosen) < FEWEST_TRACKERS:
                    continue
                crossed = _Crossed(panel.take_trackers(chosen, group), self.generators, self.correlation)
                group_reached = {target: values[:, chosen] for target, values in by_target.items()}
                if not errors:
                    for target, values in group_reached.items():
                        swap += crossed.own_rows(target, values[0])
                    continue
                for target, values in group_reached.items():
                    swap += crossed.metric_rows(target, values)
                    best += crossed.best_rows(target, values) if target in panel.targets else []
                predictors, names = grouped_errors(np.stack(errors, axis=2)[:, :, chosen], self.slots)
                first = f"outcome.{self.outcomes[0]}"
                costs += crossed.cost_rows(first, group_reached[first], predictors, names)
        return Result(SwapTables(swap=swap, costs=costs, best_set=best))


def _outcomes(stored: Result[PolicyValues], names: Sequence[str]) -> Floats:
    """(n_outcomes, n_generators, n_dialogs) of one system; of a table, mean and influence have them."""
    if GENERATORS in stored.arrays:
        return stored.arrays[GENERATORS]
    made = {}
    for number, value in enumerate(stored.values.values):
        influence = stored.arrays[f"influence{number}"]
        made[value.estimator] = value.mean + len(influence) * influence
    return np.stack([made[name] for name in names])[:, None]


@dataclass(frozen=True, eq=False)
class _Crossed:
    """One group of trackers; correlation: the stage with the study's settings."""

    panel: ResampledPoints
    generators: tuple[str, ...]
    correlation: CorrelationTask

    @property
    def level(self) -> float:
        return self.correlation.settings.level

    @cached_property
    def without_dialogs(self) -> Floats:
        """(n_dialogs, k, n_trackers) every metric without each dialog, from what dialogs contribute to it."""
        parts, metrics = np.moveaxis(self.panel.contributions[0], 2, 0), self.panel.sample.metrics[:, 0]
        return np.asarray(metrics - (len(parts) * parts - metrics) / max(len(parts) - 1, 1))

    def metric_rows(self, target: str, outcomes: Floats) -> list[SwapRow]:
        """Of every metric: over all generators at both levels, and under each at that of trackers."""
        rows = []
        for level in ("tracker", "dialog"):
            r, left_out = self._estimate(level, outcomes)
            rows += self._ranked(self._rows(target, EVERY, level, r, left_out), self._set(level, r, left_out))
        for number, name in enumerate(self.generators if len(self.generators) > 1 else ()):
            estimate = self._estimate("tracker", outcomes[number : number + 1])
            rows += self._rows(target, name, "tracker", *estimate)
        return rows

    def best_rows(self, target: str, outcomes: Floats) -> list[BestSetRow]:
        """The best set over all generators, on which the verdict rests."""
        r, left_out = self._estimate("tracker", outcomes)
        made = self._set("tracker", r, left_out)
        return [
            best_set_row(made, m, self.panel, target, r[m], n_generators=len(self.generators))
            for m in range(len(r))
        ]

    def _estimate(self, level: str, outcomes: Floats) -> tuple[Floats, list[Floats]]:
        """r (k,), and without each tracker, each generator, each dialog (n_units, k)."""
        n_generators, n_trackers, n_dialogs = outcomes.shape
        sizes, metrics = (n_trackers, n_generators, n_dialogs), self.panel.sample.metrics[:, 0]
        r = self._correlations(level, outcomes, CrossedWeights.observed(*sizes), metrics[None])[0]
        left_out = []
        for axis, size in enumerate(sizes):
            without = self.without_dialogs if axis == 2 else np.broadcast_to(metrics, (size, *metrics.shape))
            # A sample of one says nothing about others.
            if size > 1:
                weights = CrossedWeights.without_each(sizes, axis)
                left_out.append(self._correlations(level, outcomes, weights, without))
        return r, left_out

    def _set(self, level: str, r: Floats, left_out: Sequence[Floats]) -> BestSet:
        settings, identity = self.correlation.settings, f"{level} {self.panel.identity}"
        draws = settings.resamples, identity, self.correlation.seed, settings.level
        return best_set(r, left_out[0], *draws, crossed=left_out[1:])

    def _ranked(self, rows: Sequence[SwapRow], made: BestSet) -> list[SwapRow]:
        return [
            msgspec.structs.replace(
                row,
                in_set=None if made.undecided else bool(made.in_set[number]),
                p=plain(made.p[number]),
                rank=int(made.rank[number]) or None,
                rank_low=int(made.rank_low[number]) or None,
                rank_high=int(made.rank_high[number]) or None,
            )
            for number, row in enumerate(rows)
        ]

    def own_rows(self, target: str, outcomes: Floats) -> list[SwapRow]:
        """Of systems with responses of their own, outcomes (n_trackers, n_dialogs): dialogs as points."""
        metrics, (n_trackers, n_dialogs) = self.panel.contributions[0], outcomes.shape
        without = {
            "trackers": TwoWayWeights(1.0 - np.eye(n_trackers), np.ones((n_trackers, n_dialogs))),
            "dialogs": TwoWayWeights(np.ones((n_dialogs, n_trackers)), 1.0 - np.eye(n_dialogs)),
        }
        names = [str(number) for number in range(len(metrics) + 1)]
        values = np.concatenate([metrics, outcomes[None]])
        scatters = Scatters.of_values(values, np.ones(outcomes.shape, dtype=bool), names, without)
        rows = []
        for level in OWN_LEVELS:
            # What is the same for all systems says nothing of one of them on the same dialog.
            same = (np.ptp(metrics, axis=1).max(axis=1) < SAME) & (level == "dialog")
            made = [scatters.estimate(level, names[:-1], names[-1], way=way) for way in without]
            r, *left_out = (
                np.where(same, np.nan, part) for part in (made[0].value, *(each.resampled for each in made))
            )
            rows += self._rows(target, OWN, level, r, left_out)
        return rows

    def _rows(
        self, target: str, generator: str, level: str, r: Floats, left_out: Sequence[Floats]
    ) -> list[SwapRow]:
        """A row for every metric, from r (k,) and r without each unit of each sample (n_units, k)."""
        panel = self.panel
        names = [name[0] for name in panel.metrics]
        low, high = crossed_interval(r, left_out, self.level)
        apart = apart_low = apart_high = np.full(len(r), np.nan)
        if REFERENCE in names:
            j = names.index(REFERENCE)
            apart = np.where(np.arange(len(r)) == j, np.nan, r - r[j])
            differences = [part - part[:, [j]] for part in left_out]
            apart_low, apart_high = crossed_interval(apart, differences, self.level, is_correlation=False)
        return [
            SwapRow(
                target=target,
                metric=metric,
                schedule=schedule,
                component=component,
                level=level,
                generator=generator,
                r=plain(r[m]),
                low=plain(low[m]),
                high=plain(high[m]),
                difference=plain(apart[m]),
                difference_low=plain(apart_low[m]),
                difference_high=plain(apart_high[m]),
                n_trackers=len(panel.trackers),
                n_generators=len(self.generators) if generator == EVERY else 1,
                n_dialogs=panel.contributions[0].shape[2],
                trackers=panel.group,
            )
            for m, (metric, schedule, component, _) in enumerate(panel.metrics)
        ]

    def _correlations(self, level: str, outcomes: Floats, weights: CrossedWeights, metrics: Floats) -> Floats:
        """(n, k) by the metrics (n, k, n_trackers) of n draws, or by what dialogs contribute to them."""
        if level == "dialog":
            return dialog_sums(self.panel.contributions[0], outcomes, weights).correlations
        return tracker_sums(metrics, outcomes, weights).correlations

    def cost_rows(
        self, target: str, outcomes: Floats, predictors: Floats, names: Sequence[tuple[str, str]]
    ) -> list[CostRow]:
        """predictors (k, n_trackers, n_dialogs): the share of turns with an error; names: kind and slots."""
        n_generators, n_trackers, n_dialogs = outcomes.shape
        sizes = (n_trackers, n_generators, n_dialogs)
        weights = [CrossedWeights.observed(*sizes)]
        weights += [CrossedWeights.without_each(sizes, axis) for axis, size in enumerate(sizes) if size > 1]
        occurs = (predictors > 0).astype(np.float64)
        # Fewer errors are better: the sign makes a cost positive, and r comparable to those of metrics.
        (cost,), *costs = (-dialog_sums(occurs, outcomes, part).slopes for part in weights)
        low, high = crossed_interval(cost, costs, self.level, is_correlation=False)
        means = [
            np.stack([part.dialogs @ each.T for each in predictors], axis=1)
            / part.dialogs.sum(axis=1)[:, None, None]
            for part in weights
        ]
        (r,), *left_out = (
            -tracker_sums(mean, outcomes, part).correlations
            for mean, part in zip(means, weights, strict=True)
        )
        r_low, r_high = crossed_interval(r, left_out, self.level)
        return [
            CostRow(
                target=target,
                error=kind,
                slots=slots,
                share=float(occurs[number].mean()),
                cost=plain(cost[number]),
                low=plain(low[number]),
                high=plain(high[number]),
                r=plain(r[number]),
                r_low=plain(r_low[number]),
                r_high=plain(r_high[number]),
                trackers=self.panel.group,
            )
            for number, (kind, slots) in enumerate(names)
        ]


def grouped_errors(errors: Floats, slots: Sequence[tuple[str, str]]) -> tuple[Floats, list[tuple[str, str]]]:
    """(k, n_trackers, n_dialogs) errors (3, n_slots, ...) summed over groups of slots, with names.

    Groups: `all`, `search` and `booking` slots, and every single slot; kinds also taken together as `any`.
    """
    is_booking = [slot in BOOKING or f"{domain}-{slot}" in BOOKING for domain, slot in slots]
    groups = {
        EVERY: list(range(len(slots))),
        "search": [i for i, booking in enumerate(is_booking) if not booking],
        "booking": [i for i, booking in enumerate(is_booking) if booking],
    }
    groups |= {f"{domain}-{slot}": [i] for i, (domain, slot) in enumerate(slots)}
    kinds = {kind: errors[number] for number, kind in enumerate(KINDS)} | {"any": errors.sum(axis=0)}
    parts, names = [], []
    for kind, by_slot in kinds.items():
        for name, columns in groups.items():
            if columns and (summed := by_slot[columns].sum(axis=0)).any():
                parts.append(summed)
                names.append((kind, name))
    return np.stack(parts), names
