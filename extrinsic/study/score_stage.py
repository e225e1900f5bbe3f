"""The stages of one system: the statistics of every metric with its best beliefs, and outcomes with errors by
slot.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.acts import NONE, Vocabulary
from extrinsic.corpus.conventions import STATE_SETS, Conventions, RocPoints, ScoreConventions
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE, StateSets
from extrinsic.errors import InputError, UsageError
from extrinsic.metrics.definition import Filled, Metric, parse_metric
from extrinsic.metrics.measuring import ChoiceError, Measurement, Source, measure, resampled_values
from extrinsic.metrics.roc_curves import RocStatistics, score_order
from extrinsic.metrics.state_items import ALL, STATE
from extrinsic.metrics.traits import SENTINELS, Sentinel
from extrinsic.outcomes import PreparedEvaluator
from extrinsic.plugins import hash_of_source
from extrinsic.registry import EVALUATORS, METRICS
from extrinsic.storage import encode_json
from extrinsic.study.dialog_inputs import Unit, corpus_of
from extrinsic.study.policy_values import OUTCOME, PolicyValue, PolicyValues
from extrinsic.study.settings import Component, MetricsTable
from extrinsic.study.state_inputs import STATES_DATASET, StatesInput
from extrinsic.study.store import Result, StageKey, encoded, stage_key
from extrinsic.study.tracker_inputs import TrackerInput, output_of

GENERATORS = "generators"
GENERATOR = "generator"
"""`generator.<name>`: the diagnostic that has a system's outcome under one of them."""

ERRORS = "errors"


class Measured(msgspec.Struct, frozen=True):
    """One metric of one tracker on one dataset, as it is stored.

    columns: where its statistics lie: (first, last) column, or the number of a ROC curve.
    """

    metric: str
    component: str
    schedule: int
    label_scheme: str | None
    n: int
    value: float | None
    columns: tuple[int, int] | int

    @property
    def name(self) -> tuple[str, int, str, str | None]:
        return self.metric, self.schedule, self.component, self.label_scheme


class DatasetScores(msgspec.Struct, frozen=True):
    """The measurements of a tracker on one dataset; arrays `<dataset>/<name>` hold their statistics."""

    rows: tuple[Measured, ...]
    n_dialogs: int
    roc_points: RocPoints | None


class TrackerScores(msgspec.Struct, frozen=True):
    """What the stage stores: the measurements on every dataset.

    joint_only: the tracker has no beliefs about single slots.
    """

    datasets: dict[str, DatasetScores]
    joint_only: bool = False


@dataclass(frozen=True)
class ScoreTask:
    """Measure a tracker with beliefs on every dataset of a unit."""

    unit: Unit
    system: TrackerInput
    metrics: MetricsTable
    plugins: str = ""

    @cached_property
    def key(self) -> StageKey:
        # A metric from elsewhere brings its code; ours are part of the code's version.
        code = hash_of_source(*(METRICS.get(name.partition("(")[0]) for name in self.metrics.names))
        parts = (self.plugins, self.unit.identity, self.system.identity, encoded(self.metrics), code)
        return stage_key("score", "beliefs", *parts)

    @property
    def label(self) -> str:
        return f"{self.unit.name} {self.system.name}"

    def run(self) -> Result[TrackerScores]:
        corpus, output = corpus_of(self.unit.test), output_of(self.system, self.unit, "test")
        datasets: dict[str, DatasetScores] = {}
        arrays: dict[str, np.ndarray] = {}
        for part in self.unit.parts:
            dialogs, beliefs_of = part.of(corpus), part.of(output)
            scores, statistics = pack(_measured(Source(dialogs, beliefs_of), self.metrics))
            beliefs = beliefs_of.marginals(dialogs)
            top = beliefs.top
            statistics["top"] = _stable_ids(beliefs.value[top], dialogs.vocabulary)
            statistics["top_score"] = beliefs.score[top].astype(np.float32)
            datasets[part.name] = scores
            arrays |= {f"{part.name}/{name}": array for name, array in statistics.items()}
        return Result(TrackerScores(datasets, output.joint_only), arrays)


class OwnScores(msgspec.Struct, frozen=True):
    """A metric from the user's own table: of each dialog the sum of its scores, and how many there are."""

    metric: str
    sums: tuple[float, ...]
    counts: tuple[float, ...]


@dataclass(frozen=True)
class ScoreStatesTask:
    """Measure a file of states on the dialogs that all systems share.

    slots: those of all systems, for comparing their beliefs.   own: scores that the user brings.
    """

    states: StatesInput
    dialogs: tuple[str, ...]
    slots: tuple[tuple[str, str], ...]
    metrics: MetricsTable
    plugins: str = ""
    own: tuple[OwnScores, ...] = ()

    @cached_property
    def key(self) -> StageKey:
        parts = (self.plugins, self.states.signature, encoded(self.metrics))
        shared = encode_json((self.dialogs, self.slots, msgspec.to_builtins(self.own)))
        return stage_key("score", "states", *parts, shared)

    @property
    def label(self) -> str:
        return self.states.name

    def run(self) -> Result[TrackerScores]:
        states = self.states.read(self.dialogs)
        measured = _measured(Source(None, states), self.metrics)
        for own in self.own:
            sums = np.stack([np.array(own.sums), np.array(own.counts)], axis=1)
            measured.append(Measurement(self.states.name, ALL, metric_of(own.metric), 1, None, None, sums))
        scores, statistics = pack(measured)
        # A slot without a prediction is not a belief, and neither is "none".
        predicted = np.where(states.predicted == GIVEN_NONE, ABSENT, states.predicted)
        table = np.full((len(predicted), len(self.slots)), ABSENT, dtype=predicted.dtype)
        table[:, [self.slots.index(slot) for slot in states.slots]] = predicted
        statistics["top"] = _stable_ids(table.ravel(), states.vocabulary)
        statistics["top_score"] = np.ones(table.size, dtype=np.float32)
        arrays = {f"{STATES_DATASET}/{name}": array for name, array in statistics.items()}
        return Result(TrackerScores({STATES_DATASET: scores}), arrays)


@dataclass(frozen=True)
class EvaluateTask:
    """Evaluate a file of states; signature: of the evaluator's own files when the study was planned.

    slots: those of all systems, for comparing their errors.
    """

    states: StatesInput
    evaluator: Component
    signature: str
    names: tuple[str, ...]
    dialogs: tuple[str, ...]
    slots: tuple[tuple[str, str], ...]

    @cached_property
    def key(self) -> StageKey:
        code = hash_of_source(EVALUATORS.get(self.evaluator.name))
        shared = encode_json((self.names, self.dialogs, self.slots))
        return stage_key("evaluate", self.states.signature, self.signature, code, shared)

    @property
    def label(self) -> str:
        return f"outcomes of {self.states.name}"

    def run(self) -> Result[PolicyValues]:
        prepared = prepared_evaluator(self.evaluator, self.signature)
        if prepared.signature != self.signature:
            raise InputError("the evaluator's files have changed since the study began; run it again")
        states = self.states.read(self.dialogs)
        everything = prepared.evaluate(
            self.states.path, self.states.format, self.states.reading, self.states.name, self.dialogs
        )
        available = EVALUATORS.get(self.evaluator.name).outcomes
        chosen = everything[[available.index(name) for name in self.names]]
        # A system's outcome is the mean over generators; a dialog's influence follows from the same means.
        by_dialog = chosen.mean(axis=1)
        values = tuple(
            PolicyValue(
                dataset=STATES_DATASET,
                policy=OUTCOME,
                estimator=name,
                mean=float(by_dialog[number].mean()),
                n=len(self.dialogs),
                diagnostics=dict(
                    zip(map(f"{GENERATOR}.{{}}".format, prepared.generators), means, strict=True)
                ),
            )
            for number, (name, means) in enumerate(zip(self.names, chosen.mean(axis=2).tolist(), strict=True))
        )
        arrays: dict[str, np.ndarray] = {
            f"influence{number}": (row - row.mean()) / len(row) for number, row in enumerate(by_dialog)
        }
        arrays[GENERATORS] = chosen
        arrays[ERRORS] = slot_errors(states, self.slots)
        return Result(PolicyValues(values), arrays)


_PREPARED: dict[str, PreparedEvaluator] = {}
"""The evaluator that this process read last, by its signature: the stages of a study share it."""


def prepared_evaluator(evaluator: Component, signature: str | None = None) -> PreparedEvaluator:
    """The evaluator with its files read; signature: what they were when the study was planned."""
    if signature is None or signature not in _PREPARED:
        prepared: PreparedEvaluator = evaluator.make(EVALUATORS).prepare()
        _PREPARED.clear()
        _PREPARED[prepared.signature] = prepared
        return prepared
    return _PREPARED[signature]


def slot_errors(states: StateSets, slots: tuple[tuple[str, str], ...]) -> Floats:
    """(3, n_slots, n_dialogs) in what share of a dialog's turns each slot is missed, wrong, or overshot."""
    gold, predicted = (np.where(side == GIVEN_NONE, ABSENT, side) for side in (states.gold, states.predicted))
    in_gold, is_predicted = gold != ABSENT, predicted != ABSENT
    kinds = np.stack(
        [in_gold & ~is_predicted, in_gold & is_predicted & (gold != predicted), ~in_gold & is_predicted]
    )
    sums = np.add.reduceat(kinds, states.offsets[:-1], axis=1, dtype=np.float64)
    shares = np.moveaxis(sums / np.diff(states.offsets)[None, :, None], 1, 2)
    errors = np.zeros((len(kinds), len(slots), states.n_dialogs))
    errors[:, [slots.index(slot) for slot in states.slots]] = shares
    return errors


def _measured(source: Source, settings: MetricsTable) -> list[Measurement]:
    conventions = source.conventions
    scheme = settings.label_scheme or conventions.label_schemes[0]
    components = settings.components or conventions.components or None
    chosen = chosen_metrics(conventions, settings)
    if components is not None and any(isinstance(metric, Filled) for metric in chosen):
        components = (*components, STATE)
    try:
        measured = list(measure(source, chosen, settings.schedules or None, components))
    except ChoiceError as error:
        # Which there are only the dialogs show, after the study's file was read and its keys were checked.
        raise UsageError(f"key metrics.{error.choice}: {error}") from None
    return [row for row in measured if row.label_scheme in (scheme, None)]


def chosen_metrics(conventions: ScoreConventions, settings: MetricsTable) -> list[Metric]:
    """The metrics named, or those of the conventions, and those of plugins; of states, by each fill rule."""
    own = [parse_metric(name) for name in settings.registered]
    metrics = [*(parse_metric(name) for name in settings.names or conventions.metrics), *own]
    if not isinstance(conventions, Conventions):
        metrics = [metric for metric in metrics if metric not in own or metric.kind == "state"]
        wanted = not settings.names if settings.sentinels is None else settings.sentinels
        return [*metrics, *(Sentinel(which) for which in SENTINELS)] if wanted else metrics
    belief_metrics = [metric for metric in metrics if metric.kind == "belief" or isinstance(metric, Filled)]
    state_metrics = [metric for metric in metrics if metric not in belief_metrics]
    if not settings.names:
        state_metrics = [parse_metric(name) for name in STATE_SETS.metrics]
        state_metrics += [metric for metric in own if metric.kind == "state"]
    rules = [Fill.parse(rule) for rule in settings.fill]
    filled = [Filled(metric, rule) for rule in rules for metric in state_metrics]
    if not rules:
        # A plugin's metric is measured whatever the settings: states are the best values then.
        filled = [Filled(metric, Fill("argmax")) for metric in own if metric.kind == "state"]
    return belief_metrics + filled


def _stable_ids(value: Any, vocabulary: Vocabulary) -> Ints:
    """Values as numbers that are the same in every process; 0 for none."""
    ids = np.unique(value)
    hashes = [0 if i == NONE else max(1, zlib.crc32(repr(vocabulary.value(int(i))).encode())) for i in ids]
    return np.asarray(np.array(hashes, dtype=np.int64)[np.searchsorted(ids, value)])


def metric_of(name: str) -> Metric:
    """A metric by its printed form, parsed once unless its name is registered anew."""
    return _parsed(name, METRICS.get(name.partition("(")[0]))


@lru_cache(maxsize=1_000)
def _parsed(name: str, factory: Any) -> Metric:
    return parse_metric(name)


def pack(measurements: Sequence[Measurement]) -> tuple[DatasetScores, dict[str, np.ndarray]]:
    """Statistics side by side, so that all of them are resampled by one product."""
    rows: list[Measured] = []
    columns: list[Floats] = []
    curves: dict[int, int] = {}
    arrays: dict[str, np.ndarray] = {}
    width = 0
    for row in measurements:
        statistics = row.statistics
        location: tuple[int, int] | int
        if isinstance(statistics, RocStatistics):
            location = curves.setdefault(id(statistics), len(curves))
            if f"roc{location}/score" not in arrays:
                # The order does not matter here; sorted items need no sorting when read.
                order = score_order(statistics.score)
                arrays[f"roc{location}/score"] = statistics.score[order]
                arrays[f"roc{location}/correct"] = statistics.correct[order]
                arrays[f"roc{location}/dialog"] = statistics.dialog[order].astype(np.int32)
        else:
            location = (width, width + statistics.shape[1])
            width = location[1]
            columns.append(np.asarray(statistics, dtype=np.float64))
        rows.append(
            Measured(
                str(row.metric), row.component, row.schedule, row.label_scheme, row.n, row.value, location
            )
        )
    n_dialogs = len(columns[0]) if columns else measurements[0].statistics.shape[0]
    arrays["columns"] = np.concatenate(columns, axis=1) if columns else np.zeros((n_dialogs, 0))
    points = next(
        (row.statistics.points for row in measurements if isinstance(row.statistics, RocStatistics)), None
    )
    return DatasetScores(tuple(rows), n_dialogs, points), arrays


@dataclass(frozen=True, eq=False)
class Measurements:
    """The stored measurements of one tracker on one dataset, unpacked."""

    rows: tuple[Measured, ...]
    columns: Floats
    curves: dict[int, RocStatistics]
    top: Ints
    top_score: Floats

    @staticmethod
    def of(result: Result[TrackerScores], dataset: str) -> Measurements:
        scores = result.values.datasets[dataset]
        arrays = {
            name.removeprefix(f"{dataset}/"): array
            for name, array in result.arrays.items()
            if name.startswith(f"{dataset}/")
        }
        curves = {}
        for number in {row.columns for row in scores.rows if isinstance(row.columns, int)}:
            assert scores.roc_points is not None
            curves[number] = RocStatistics(
                scores.roc_points,
                scores.n_dialogs,
                arrays[f"roc{number}/score"],
                arrays[f"roc{number}/correct"],
                arrays[f"roc{number}/dialog"].astype(np.int64),
            )
        return Measurements(scores.rows, arrays["columns"], curves, arrays["top"], arrays["top_score"])

    @property
    def n_dialogs(self) -> int:
        return len(self.columns)

    def joined(self, other: Measurements) -> Measurements:
        """The dialogs of both, those of the other last: for exchanging dialogs between two trackers."""
        return Measurements(
            self.rows,
            np.concatenate([self.columns, other.columns]),
            {number: curve.joined(other.curves[number]) for number, curve in self.curves.items()},
            np.concatenate([self.top, other.top]),
            np.concatenate([self.top_score, other.top_score]),
        )

    def resampled(self, weights: Any) -> Floats:
        """(n_metrics, k) the values of all rows, dialogs drawn as often as weights (k, n_dialogs) say."""
        values = np.empty((len(self.rows), len(weights)))
        totals = weights.astype(np.float64) @ self.columns
        rows_of_curve: dict[int, list[int]] = {}
        for number, row in enumerate(self.rows):
            if isinstance(row.columns, int):
                rows_of_curve.setdefault(row.columns, []).append(number)
            else:
                values[number] = metric_of(row.metric).values(totals[:, slice(*row.columns)])
        for curve, numbers in rows_of_curve.items():
            metrics = [metric_of(self.rows[number].metric) for number in numbers]
            values[numbers] = resampled_values(weights, metrics, self.curves[curve])
        return values
