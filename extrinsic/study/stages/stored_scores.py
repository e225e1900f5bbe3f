"""The stage that measures: the statistics of every metric of one tracker, and its best beliefs."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.fill import Fill
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE, StateSets
from extrinsic.corpus.vocabulary import NONE, Vocabulary
from extrinsic.metrics import STATE_METRICS
from extrinsic.metrics.definition import Metric
from extrinsic.metrics.dialog_resampling import resampled_values
from extrinsic.metrics.filled import Filled
from extrinsic.metrics.items.curves import RocStatistics, score_order
from extrinsic.metrics.measuring import Measurement, measure
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.scoring import DEFAULT_METRICS
from extrinsic.metrics.sources import Source
from extrinsic.registry import METRICS
from extrinsic.study.configuration.settings import MetricsTable
from extrinsic.study.stages.inputs import TrackerInput, Unit, corpus_of, output_of
from extrinsic.study.stages.store import Result

COMPONENTS = {"dstc1": ("joint", "all"), "dstc2": ("goal.joint", "goal.all")}
SCHEMES = {"dstc2": "a"}


def measure_tracker(unit: Unit, tracker: TrackerInput, settings: MetricsTable) -> Result:
    """The measurements of a tracker on every dataset of a unit."""
    corpus, output = corpus_of(unit.test), output_of(tracker, unit, "test")
    values: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for part in unit.parts:
        chosen = part.chosen(corpus.n_dialogs)
        whole = part.dialogs is None
        some, of_some = (corpus, output) if whole else (corpus.take(chosen), output.take(chosen))
        packed = pack(_measured(Source(some, of_some), settings))
        beliefs = of_some.marginals(some)
        top = beliefs.top
        packed.arrays["top"] = _stable_ids(beliefs.value[top], some.vocabulary)
        packed.arrays["top_score"] = beliefs.score[top].astype(np.float32)
        values[part.name] = packed.values
        arrays |= {f"{part.name}/{name}": array for name, array in packed.arrays.items()}
    return Result(values, arrays)


def measure_states(
    states: StateSets,
    dialogs: Sequence[int],
    slots: Sequence[tuple[str, str]],
    settings: MetricsTable,
    name: str,
) -> Result:
    """The measurements of a file of states on chosen dialogs, as the one dataset `name`.

    slots: those of all systems, for comparing what two of them believe.
    """
    chosen = states.take(list(dialogs))
    packed = pack(_measured(Source(None, chosen), settings))
    # A slot about which nothing is said is no belief; neither is "none".
    said = np.where(chosen.predicted == GIVEN_NONE, ABSENT, chosen.predicted)
    table = np.full((len(said), len(slots)), ABSENT, dtype=said.dtype)
    table[:, [slots.index(slot) for slot in chosen.slots]] = said
    value = table.ravel()
    packed.arrays["top"] = _stable_ids(value, chosen.vocabulary)
    packed.arrays["top_score"] = np.ones(len(value), dtype=np.float32)
    return Result({name: packed.values}, {f"{name}/{key}": array for key, array in packed.arrays.items()})


def _measured(source: Source, settings: MetricsTable) -> list[Measurement]:
    scheme = settings.label_scheme or SCHEMES.get(source.format)
    components = settings.components or COMPONENTS.get(source.format)
    if components is not None and settings.fill:
        components = (*components, "state")
    measured = measure(
        source, chosen_metrics(source.format, settings), settings.schedules or None, components
    )
    return [row for row in measured if row.label_scheme in (scheme, None)]


def chosen_metrics(form: str, settings: MetricsTable) -> list[Metric]:
    """The metrics named, or those of the format; and those of states, by each fill rule."""
    names = settings.names or DEFAULT_METRICS.get(form, STATE_METRICS)
    metrics = [parse_metric(name) for name in names]
    if form not in COMPONENTS:
        return metrics
    of_beliefs = [metric for metric in metrics if metric.kind == "belief" or isinstance(metric, Filled)]
    of_states = [metric for metric in metrics if metric not in of_beliefs]
    if not settings.names:
        of_states = [parse_metric(name) for name in STATE_METRICS]
    return of_beliefs + [Filled(metric, Fill.parse(rule)) for rule in settings.fill for metric in of_states]


def _stable_ids(value: Any, vocabulary: Vocabulary) -> Ints:
    """Values as numbers that are the same in every process; 0 for none."""
    found = np.unique(value)
    hashes = [0 if i == NONE else max(1, zlib.crc32(repr(vocabulary.value(int(i))).encode())) for i in found]
    return np.asarray(np.array(hashes, dtype=np.int64)[np.searchsorted(found, value)])


def metric_of(name: str) -> Metric:
    """A metric by its printed form, parsed once for as long as its name means the same."""
    return _parsed(name, METRICS.get(name.partition("(")[0]))


@lru_cache(maxsize=1_000)
def _parsed(name: str, factory: Any) -> Metric:
    return parse_metric(name)


class Measured(msgspec.Struct, frozen=True):
    """One metric of one tracker on one dataset, as it is stored.

    place: where its statistics lie: (first, last) column, or the number of a ROC curve.
    """

    metric: str
    component: str
    schedule: int
    label_scheme: str | None
    n: int
    value: float | None
    place: tuple[int, int] | int

    @property
    def name(self) -> tuple[str, int, str, str | None]:
        return self.metric, self.schedule, self.component, self.label_scheme


def pack(measurements: Sequence[Measurement]) -> Result:
    """Statistics side by side, so that all of them are resampled by one product."""
    rows: list[Any] = []
    columns: list[Floats] = []
    curves: dict[int, int] = {}
    arrays: dict[str, np.ndarray] = {}
    width = 0
    for row in measurements:
        statistics = row.statistics
        place: tuple[int, int] | int
        if isinstance(statistics, RocStatistics):
            place = curves.setdefault(id(statistics), len(curves))
            if f"roc{place}/score" not in arrays:
                # By DSTC1's rule any order will do; sorted, the items need no sorting when they are read.
                order = score_order(statistics.score)
                arrays[f"roc{place}/score"] = statistics.score[order]
                arrays[f"roc{place}/correct"] = statistics.correct[order]
                arrays[f"roc{place}/dialog"] = statistics.dialog[order].astype(np.int32)
        else:
            place = (width, width + statistics.shape[1])
            width = place[1]
            columns.append(np.asarray(statistics, dtype=np.float64))
        rows.append(
            msgspec.to_builtins(
                Measured(
                    str(row.metric), row.component, row.schedule, row.label_scheme, row.n, row.value, place
                )
            )
        )
    n_dialogs = len(columns[0]) if columns else measurements[0].statistics.shape[0]
    arrays["columns"] = np.concatenate(columns, axis=1) if columns else np.zeros((n_dialogs, 0))
    rule = next(
        (row.statistics.rule for row in measurements if isinstance(row.statistics, RocStatistics)), None
    )
    return Result({"rows": rows, "roc_rule": rule, "n_dialogs": n_dialogs}, arrays)


@dataclass(frozen=True, eq=False)
class Measurements:
    """What is stored of one tracker on one dataset, unpacked."""

    rows: list[Measured]
    columns: Floats
    curves: dict[int, RocStatistics]
    top: Ints
    top_score: Floats

    @staticmethod
    def of(result: Result, dataset: str) -> Measurements:
        values = result.values[dataset]
        mine = {
            name.removeprefix(f"{dataset}/"): array
            for name, array in result.arrays.items()
            if name.startswith(f"{dataset}/")
        }
        rows = msgspec.convert(values["rows"], list[Measured])
        numbers = sorted({row.place for row in rows if isinstance(row.place, int)})
        curves = {
            number: RocStatistics(
                values["roc_rule"],
                values["n_dialogs"],
                mine[f"roc{number}/score"],
                mine[f"roc{number}/correct"],
                mine[f"roc{number}/dialog"].astype(np.int64),
            )
            for number in numbers
        }
        return Measurements(rows, mine["columns"], curves, mine["top"], mine["top_score"])

    @property
    def n_dialogs(self) -> int:
        return len(self.columns)

    def joined(self, other: Measurements) -> Measurements:
        """The dialogs of both, those of the other behind: for exchanging dialogs between two trackers."""
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
        of_curves: dict[int, list[int]] = {}
        for number, row in enumerate(self.rows):
            if isinstance(row.place, int):
                of_curves.setdefault(row.place, []).append(number)
            else:
                values[number] = metric_of(row.metric).values(totals[:, slice(*row.place)])
        for place, numbers in of_curves.items():
            metrics = [metric_of(self.rows[number].metric) for number in numbers]
            values[numbers] = resampled_values(weights, metrics, self.curves[place])
        return values
