"""Two trackers of a run: every metric and return, their paired differences, with intervals and p-values.

Both saw the same dialogs, so dialogs are resampled together. For p-values the two are exchanged dialog by
dialog at random (approximate randomisation): p = (count + 1) / (n + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.intervals import interval
from extrinsic.correlation.resampling import rng_of
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.measuring import resample_dialogs
from extrinsic.metrics.paired_scores import better_one
from extrinsic.study.configuration.targets import LOGGED_RETURN, verdict_targets
from extrinsic.study.correlating.correlation_stage import dialogs_of
from extrinsic.study.finished_run import Run
from extrinsic.study.planning.outcomes import OUTCOME
from extrinsic.study.stages.policy_spec import PolicyValue
from extrinsic.study.stages.store import plain
from extrinsic.study.stages.stored_scores import Measurements
from extrinsic.study.stages.variant_values import TrackerValue
from extrinsic.study.tables.value_rows import Row

RESAMPLES = 1_000
PERMUTATIONS = 1_999
SAME = 1e-12
MEAN = "(mean of all)"
"""Instead of a dataset's name: the mean over datasets."""

Kind = Literal["return", "metric"]


class ComparisonRow(Row, frozen=True, kw_only=True, omit_defaults=True):
    """A return or a metric of two trackers, and their difference.

    dataset: its name, or the mean over all datasets.
    kind: `return` or `metric`.
    name: policy and estimator of a return, e.g. `rl.live`; the printed form of a metric.
    schedule, component: of a metric, when and where it is measured.
    variant: of a return, the way of learning and rewarding.
    a, b: the values of the first and the second tracker.
    difference: the first less the second.
    low, high: a 95 % interval of the difference over resampled dialogs.
    p: by exchanging the two trackers dialog by dialog.
    better: `a` or `b`; empty where it is not decided, because the interval includes 0 or p is above .05.
    """

    dataset: str
    kind: Kind
    name: str
    schedule: int | None = None
    component: str | None = None
    variant: str | None = None
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    better: str | None


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two trackers on one dataset: values (2,), resampled differences (n,), exchanged ones (k,)."""

    values: Floats
    resampled: Floats
    exchanged: Floats


@dataclass(frozen=True)
class Compared:
    """What is compared: a return or a metric."""

    kind: Kind
    name: str
    schedule: int | None = None
    component: str | None = None
    variant: str | None = None
    higher_is_better: bool | None = True


def compare_trackers(run: Run, first: str, second: str, seed: int = 0) -> list[ComparisonRow]:
    """Rows of every return and metric: by dataset, and the mean over datasets."""
    trackers = run.plan.tracker_names
    for name in (first, second):
        if name not in trackers:
            raise UsageError(f"the run has no tracker {name!r}; {did_you_mean(name, trackers)}")
    if first == second:
        raise UsageError("a tracker cannot be compared with itself", found=first)
    return _returns(run, first, second, seed) + _metrics(run, first, second, seed)


def _paired(a: float, b: float, apart: Floats, dialogs: str, seed: int) -> Pairing:
    """The pairing of two values; apart: the difference of their influences, dialogs: their identity."""
    n = len(apart)
    weights = resample_dialogs(dialogs, n, RESAMPLES, seed)
    signs = 2.0 * rng_of("exchange", dialogs, seed).integers(0, 2, (PERMUTATIONS, n)) - 1.0
    each = (a - b) / n + apart
    return Pairing(np.array([a, b]), a - b + (weights - 1.0) @ apart, signs @ each)


def _metrics(run: Run, first: str, second: str, seed: int) -> list[ComparisonRow]:
    cells = {name: _measurements(run, name) for name in (first, second)}
    every = {
        dataset: _metric_pairings(a, cells[second][dataset], dataset, seed)
        for dataset, a in cells[first].items()
    }
    rows: list[ComparisonRow] = []
    for number, measured in enumerate(next(iter(cells[first].values())).rows):
        higher = parse_metric(measured.metric).higher_is_better
        name = measured.metric, measured.schedule, measured.component
        compared = Compared("metric", *name, higher_is_better=higher)
        rows += _rows(compared, {dataset: pairings[number] for dataset, pairings in every.items()})
    return rows


def _measurements(run: Run, tracker: str) -> dict[str, Measurements]:
    cells = {}
    for result in run.scores(tracker):
        for dataset in result.values.datasets:
            cells[dataset] = Measurements.of(result, dataset)
    return cells


def _metric_pairings(a: Measurements, b: Measurements, dataset: str, seed: int) -> list[Pairing]:
    """One for every metric; both trackers are scored on the same resamples."""
    n = a.n_dialogs
    weights = resample_dialogs(f"compare {dataset}", n, RESAMPLES, seed)
    resampled = a.resampled(weights) - b.resampled(weights)
    coins = rng_of("exchange", dataset, seed).integers(0, 2, (PERMUTATIONS, n))
    both = a.joined(b)
    exchanged_a = both.resampled(np.concatenate([coins, 1 - coins], axis=1))
    exchanged_b = both.resampled(np.concatenate([1 - coins, coins], axis=1))
    values = np.array([[row.value for row in side.rows] for side in (a, b)], dtype=np.float64)
    exchanged = exchanged_a - exchanged_b
    return [Pairing(values[:, m], resampled[m], exchanged[m]) for m in range(len(a.rows))]


def _returns(run: Run, first: str, second: str, seed: int) -> list[ComparisonRow]:
    """Outcomes from a file, and the values of policies, variant by variant."""
    rows: list[ComparisonRow] = []
    variants: list[str | None] = [*(variant.name for variant in run.plan.variants)] or [None]
    for number, variant in enumerate(variants):
        values = run.values(variant)
        first_values, second_values = (_by_target(values[tracker]) for tracker in (first, second))
        for target, by_dataset in first_values.items():
            is_outcome = target.partition(".")[0] == OUTCOME
            # Outcomes do not depend on how policies are learned.
            if is_outcome and number > 0:
                continue
            pairings = {}
            for dataset, (value, influence) in by_dataset.items():
                other, other_influence = second_values[target][dataset]
                dialogs = dialogs_of(value, f"compare {dataset}")
                apart = influence - other_influence
                pairings[dataset] = _paired(value.mean, other.mean, apart, dialogs, seed)
            compared = Compared("return", target, variant=None if is_outcome else variant)
            rows += _rows(compared, pairings)
    # Outcomes first: they were observed.
    return sorted(rows, key=lambda row: row.variant is not None)


def _by_target(entries: Sequence[TrackerValue]) -> dict[str, dict[str, tuple[PolicyValue, Floats]]]:
    """By target and dataset, the value and its influence."""
    values: dict[str, dict[str, tuple[PolicyValue, Floats]]] = {}
    for entry in entries:
        values.setdefault(entry.value.target, {})[entry.value.dataset] = (entry.value, entry.influence)
    return values


def _rows(compared: Compared, pairings: dict[str, Pairing]) -> list[ComparisonRow]:
    """A row for each dataset and, first, one for their mean."""
    if len(pairings) > 1:
        pairings = {MEAN: _mean(list(pairings.values())), **pairings}
    rows = []
    for dataset, pairing in pairings.items():
        difference = float(pairing.values[0] - pairing.values[1])
        low, high = map(plain, interval(np.array(difference), pairing.resampled))
        p = _p(difference, pairing.exchanged)
        rows.append(
            ComparisonRow(
                dataset=dataset,
                kind=compared.kind,
                name=compared.name,
                schedule=compared.schedule,
                component=compared.component,
                variant=compared.variant,
                a=plain(pairing.values[0]),
                b=plain(pairing.values[1]),
                difference=plain(difference),
                low=low,
                high=high,
                p=p,
                better=better_one(("a", "b"), compared.higher_is_better, difference, low, high, p),
            )
        )
    return rows


def _mean(pairings: Sequence[Pairing]) -> Pairing:
    return Pairing(
        np.mean([pairing.values for pairing in pairings], axis=0),
        np.mean([pairing.resampled for pairing in pairings], axis=0),
        np.mean([pairing.exchanged for pairing in pairings], axis=0),
    )


def _p(difference: float, exchanged: Floats) -> float | None:
    if not np.isfinite(difference):
        return None
    count = (np.abs(exchanged) >= abs(difference) - SAME).sum()
    return float((count + 1.0) / (len(exchanged) + 1.0))


TELLING = 8
FIRST_METRICS = ("accuracy", "jga", "slot_f1", "l2")


def telling_rows(rows: Sequence[ComparisonRow], target: str) -> list[ComparisonRow]:
    """The few of one kind that fit on a screen: targets that have a verdict; usual metrics on a schedule."""
    if not rows or rows[0].kind == "return":
        names = [target, *(row.name for row in rows if row.name != target)]
        return [row for row in rows if row.name in (*verdict_targets(names), LOGGED_RETURN)][:TELLING]
    schedules = [row.schedule for row in rows]
    schedule = 1 if 1 in schedules else schedules[0]
    usual = [row for row in rows if row.schedule == schedule and row.name.partition("(")[0] in FIRST_METRICS]
    return (usual or [row for row in rows if row.schedule == schedule])[:TELLING]


def digits_of(row: ComparisonRow) -> int:
    """Returns need one digit, shares and metrics three."""
    is_share = row.name.startswith("outcome.") or row.name.endswith(".completed")
    return 1 if row.kind == "return" and not is_share else 3


def differing_dialogs(right: tuple[Ints, Ints], offsets: Ints, most: int) -> list[tuple[int, int]]:
    """Dialogs in which one tracker is right more often: (dialog, by how many), the farthest apart first.

    right (n_turns,): how many slots each of the two has right at every turn.
    """
    apart = np.add.reduceat(right[0] - right[1], offsets[:-1])
    order = np.argsort(-np.abs(apart), kind="stable")[:most]
    return [(int(dialog), int(apart[dialog])) for dialog in order if apart[dialog]]
