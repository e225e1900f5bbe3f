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

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.best_set import best_set
from extrinsic.correlation.crossed import CrossedWeights, dialog_sums, draw_crossed, tracker_sums
from extrinsic.correlation.dialog_level import BOTH, Scatters
from extrinsic.correlation.resampling import draw_trackers
from extrinsic.correlation.two_way import Split, TwoWayWeights
from extrinsic.metrics.dialog_resampling import percentile_interval, resample_dialogs
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.correlating.correlation_stage import CorrelationTask
from extrinsic.study.correlating.correlations import FEWEST_TRACKERS
from extrinsic.study.correlating.panel import Panel
from extrinsic.study.stages.evaluation import ERRORS, GENERATORS, KINDS
from extrinsic.study.stages.policy_spec import PolicyValues
from extrinsic.study.stages.store import Result, Results, StageKey, plain
from extrinsic.study.stages.versions import code_version
from extrinsic.study.tables.schema import CostRow, SwapRow

REFERENCE = "jga"
"""The metric that the others are compared to, where a study has it."""

EVERY, OWN = "all", "own"
OWN_LEVELS: tuple[Split, ...] = ("within", "dialog")
SAME = 1e-12
BOOKING = frozenset({"people", "stay", "hotel-day", "restaurant-day", "restaurant-time"})
"""The slots of MultiWOZ that no database is asked for; all others are search values."""


class SwapTables(msgspec.Struct, frozen=True, kw_only=True):
    """What the stage stores: rows of swap.csv and costs.csv."""

    swap: list[SwapRow]
    costs: list[CostRow]


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
    tracker: None = None
    variant: None = None

    @property
    def inputs(self) -> tuple[StageKey, ...]:
        return self.correlation.inputs

    @cached_property
    def key(self) -> StageKey:
        settings = encode_json((self.outcomes, self.generators, self.slots))
        parts = (code_version(__name__), self.correlation.key.hash, settings)
        return StageKey("swap", content_hash("swap", *parts))

    def run(self, results: Results) -> Result[SwapTables]:
        panel = self.correlation.panel(results)
        stored = []
        for tracker in panel.trackers:
            (key,) = self.correlation.valued[tracker]
            stored.append(Result.decode(results.read(key), key, PolicyValues))
        # (n_outcomes, n_generators, n_trackers, n_dialogs), with one generator where each system has its own.
        reached = np.stack([_outcomes(part, self.outcomes) for part in stored], axis=2)
        errors = (
            [part.arrays[ERRORS] for part in stored] if self.generators else []
        )  # (3, n_slots, n_dialogs)
        (identity,) = self.correlation.datasets.values()
        settings, seed = self.correlation.settings, self.correlation.seed
        dialogs = resample_dialogs(identity, reached.shape[-1], settings.resamples, seed)
        core = np.array(
            [i for i, name in enumerate(panel.trackers) if name in self.correlation.core], dtype=np.int64
        )
        everyone = np.arange(len(panel.trackers))
        swap: list[SwapRow] = []
        costs: list[CostRow] = []
        with threadpool_limits(1, user_api="blas"):
            for group, chosen in (("all", everyone), ("core", core)):
                if len(chosen) < FEWEST_TRACKERS:
                    continue
                crossed = _Crossed(
                    panel.take_trackers(chosen, group), self.generators, dialogs, seed, settings.level
                )
                for number, name in enumerate(self.outcomes):
                    target, part = f"outcome.{name}", reached[number][:, chosen]
                    swap += crossed.metric_rows(target, part) if errors else crossed.own_rows(target, part[0])
                if not errors:
                    continue
                predictors, names = grouped_errors(np.stack(errors, axis=2)[:, :, chosen], self.slots)
                costs += crossed.cost_rows(
                    f"outcome.{self.outcomes[0]}", reached[0][:, chosen], predictors, names
                )
        return Result(SwapTables(swap=swap, costs=costs))


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
    """One group of trackers with the draws of dialogs (n, n_dialogs); confidence: of its intervals."""

    panel: Panel
    generators: tuple[str, ...]
    dialogs: Ints
    seed: int
    confidence: float

    def _weights(self, generators: Sequence[str]) -> tuple[CrossedWeights, CrossedWeights]:
        panel = self.panel
        observed = CrossedWeights.observed(len(panel.trackers), len(generators), self.dialogs.shape[1])
        return observed, draw_crossed(panel.trackers, generators, self.dialogs.astype(np.float64), self.seed)

    def metric_rows(self, target: str, outcomes: Floats) -> list[SwapRow]:
        """Of every metric: over all generators at both levels, and under each at that of trackers."""
        rows = []
        for level in ("tracker", "dialog"):
            every = self._rows(target, EVERY, level, self.generators, outcomes)
            rows += self._ranked(every, level, outcomes)
        for number, name in enumerate(self.generators if len(self.generators) > 1 else ()):
            rows += self._rows(target, name, "tracker", (name,), outcomes[number : number + 1])
        return rows

    def _ranked(self, rows: Sequence[SwapRow], level: str, outcomes: Floats) -> list[SwapRow]:
        """The rows with the best set and ranks, by leaving out each tracker, each generator, each dialog."""
        n_generators, n_trackers, n_dialogs = outcomes.shape
        sizes, metrics = (n_trackers, n_generators, n_dialogs), self.panel.sample.metrics[:, 0]
        # What dialogs contribute to a metric, by which it is higher without each: (n_dialogs, k, n_trackers).
        parts = np.moveaxis(self.panel.contributions[0], 2, 0)
        without_dialogs = metrics - (n_dialogs * parts - metrics) / max(n_dialogs - 1, 1)
        left_out = []
        for axis, size in enumerate(sizes):
            weights = CrossedWeights.without_each(sizes, axis)
            without = without_dialogs if axis == 2 else np.broadcast_to(metrics, (size, *metrics.shape))
            # A sample of one says nothing about others.
            if size > 1:
                left_out.append(self._correlations(level, outcomes, weights, without))
        made = best_set(
            np.array([np.nan if row.r is None else row.r for row in rows]),
            left_out[0],
            len(self.dialogs),
            f"{level} {self.panel.identity}",
            self.seed,
            self.confidence,
            crossed=left_out[1:],
        )
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
        panel, metrics = self.panel, self.panel.contributions[0]
        trackers = draw_trackers(panel.identity, len(panel.trackers), len(self.dialogs), self.seed)
        counts = (trackers[:, :, None] == np.arange(len(panel.trackers))).sum(axis=1)
        drawn = TwoWayWeights(counts.astype(np.float64), self.dialogs.astype(np.float64))
        names = [str(number) for number in range(len(metrics) + 1)]
        values = np.concatenate([metrics, outcomes[None]])
        scatters = Scatters.of_values(values, np.ones(outcomes.shape, dtype=bool), names, {BOTH: drawn})
        rows = []
        for level in OWN_LEVELS:
            # What is the same for all systems says nothing of one of them on the same dialog.
            same = (np.ptp(metrics, axis=1).max(axis=1) < SAME) & (level == "dialog")
            made = scatters.estimate(level, names[:-1], names[-1])
            r, resampled = (np.where(same, np.nan, part) for part in (made.value, made.resampled))
            rows += self._made(target, OWN, level, 1, r, resampled)
        return rows

    def _rows(
        self, target: str, generator: str, level: str, generators: Sequence[str], outcomes: Floats
    ) -> list[SwapRow]:
        sample = self.panel.sample
        weights, drawn_weights = self._weights(generators)
        observed = self._correlations(level, outcomes, weights, sample.metrics[None, :, 0])
        drawn = self._correlations(level, outcomes, drawn_weights, sample.metrics_drawn[:, :, 0])
        return self._made(target, generator, level, len(generators), observed[0], drawn)

    def _made(
        self, target: str, generator: str, level: str, n_generators: int, observed: Floats, drawn: Floats
    ) -> list[SwapRow]:
        """A row for every metric, from r (k,) and its resamples (n, k)."""
        panel = self.panel
        names = [name[0] for name in panel.metrics]
        reference = names.index(REFERENCE) if REFERENCE in names else None
        rows = []
        for number, (metric, schedule, component, _) in enumerate(panel.metrics):
            low, high = percentile_interval(drawn[:, number], self.confidence)
            difference = difference_low = difference_high = None
            if reference is not None and number != reference:
                difference = plain(observed[number] - observed[reference])
                apart = drawn[:, number] - drawn[:, reference]
                difference_low, difference_high = percentile_interval(apart, self.confidence)
            r = plain(observed[number])
            rows.append(
                SwapRow(
                    target=target,
                    metric=metric,
                    schedule=schedule,
                    component=component,
                    level=level,
                    generator=generator,
                    r=r,
                    low=low if r is not None else None,
                    high=high if r is not None else None,
                    difference=difference,
                    difference_low=difference_low if difference is not None else None,
                    difference_high=difference_high if difference is not None else None,
                    n_trackers=len(panel.trackers),
                    n_generators=n_generators,
                    n_dialogs=self.dialogs.shape[1],
                    trackers=panel.group,
                )
            )
        return rows

    def _correlations(self, level: str, outcomes: Floats, weights: CrossedWeights, metrics: Floats) -> Floats:
        """(n, k) by the metrics (n, k, n_trackers) of n draws, or by what dialogs contribute to them."""
        if level == "dialog":
            return dialog_sums(self.panel.contributions[0], outcomes, weights).correlations
        return tracker_sums(metrics, outcomes, weights).correlations

    def cost_rows(
        self, target: str, outcomes: Floats, predictors: Floats, names: Sequence[tuple[str, str]]
    ) -> list[CostRow]:
        """predictors (k, n_trackers, n_dialogs): the share of turns with an error; names: kind and slots."""
        observed, weights = self._weights(self.generators)
        occurs = (predictors > 0).astype(np.float64)
        cost, drawn = (dialog_sums(occurs, outcomes, part).slopes for part in (observed, weights))
        means = predictors.mean(axis=2)[None]
        drawn_means = (
            np.stack([weights.dialogs @ part.T for part in predictors], axis=1) / predictors.shape[2]
        )
        # Fewer errors are better: the sign makes r comparable to those of metrics.
        r = -tracker_sums(means, outcomes, observed).correlations
        drawn_r = -tracker_sums(drawn_means, outcomes, weights).correlations
        rows = []
        for number, (kind, slots) in enumerate(names):
            low, high = percentile_interval(drawn[:, number], self.confidence)
            r_low, r_high = percentile_interval(drawn_r[:, number], self.confidence)
            defined = np.isfinite(cost[0, number])
            rows.append(
                CostRow(
                    target=target,
                    error=kind,
                    slots=slots,
                    share=float(occurs[number].mean()),
                    cost=plain(-cost[0, number]),
                    low=-high if defined and high is not None else None,
                    high=-low if defined and low is not None else None,
                    r=plain(r[0, number]),
                    r_low=r_low if np.isfinite(r[0, number]) else None,
                    r_high=r_high if np.isfinite(r[0, number]) else None,
                    trackers=self.panel.group,
                )
            )
        return rows


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
