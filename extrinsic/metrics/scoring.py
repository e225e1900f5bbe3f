"""Scoring a tracker: every chosen metric on every component, schedule and label scheme."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from extrinsic.arrays import Ints
from extrinsic.corpus.conventions import STATE_SETS
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import LONGEST_FOUND, UsageError, require_count, require_type, shortened
from extrinsic.metrics.definition import Filled, Metric, parse_metric
from extrinsic.metrics.measuring import (
    Interval,
    Measurement,
    Source,
    measure,
    percentile_interval,
    resampled_values,
)
from extrinsic.panel import item_weights
from extrinsic.storage import content_hash, sign
from extrinsic.tables import dataframe, html_table, write_parquet

if TYPE_CHECKING:
    import pandas


NOTHING = "nothing to score: these metrics have no such component on such a schedule"


@dataclass(frozen=True)
class Score:
    """One score: what was measured, on how many items; an interval if dialogs were resampled.

    changed: of states whose values were made alike first, how many predicted values that changed.
    """

    tracker: str
    component: str
    metric: str
    schedule: int
    label_scheme: str | None
    n: int
    value: float | None
    low: float | None = None
    high: float | None = None
    changed: int | None = None


@dataclass(frozen=True)
class Scores:
    """The scores of one tracker or several, and how they were made."""

    rows: tuple[Score, ...]
    made_by: Mapping[str, str | None]
    has_intervals: bool = False

    @property
    def signature(self) -> str:
        """A line that identifies which scores are comparable."""
        return sign(**self.made_by)

    def as_rows(self) -> list[dict[str, Any]]:
        """The scores as dictionaries; without intervals, or changed values, where there are none."""
        lacking: tuple[str, ...] = () if self.has_intervals else ("low", "high")
        lacking += () if any(row.changed is not None for row in self.rows) else ("changed",)
        return [
            {name: value for name, value in asdict(row).items() if name not in lacking} for row in self.rows
        ]

    def to_dataframe(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame, if pandas is installed."""
        rows = self.as_rows()
        return dataframe(rows, list(rows[0]))

    def to_parquet(self, path: str | Path) -> Path:
        """The rows as a Parquet file, if pyarrow is installed."""
        rows = self.as_rows()
        return write_parquet(rows, list(rows[0]), path)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(row.tracker for row in self.rows))
        return f"<Scores of {shortened(names, LONGEST_FOUND)}: {len(self.rows):,} rows>"

    def _repr_html_(self) -> str:
        return html_table(repr(self).strip("<>"), self.as_rows())


def score(
    corpus: Corpus | StateSets,
    tracker: TrackerOutput | None = None,
    *,
    metrics: str | Sequence[str | Metric] | None = None,
    schedules: int | Sequence[int] | None = None,
    components: str | Sequence[str] | None = None,
    fill: str | Sequence[str] = (),
    bootstrap: int = 0,
    seed: int = 0,
) -> Scores:
    """Score a tracker's output over its corpus, or a file of state sets.

    metrics:    printed forms; default: those of the conventions.
    schedules, components: default: all (for state sets: every turn, all slots together).
    fill:       also score a belief tracker with the state-set metrics, using these fill rules.
    bootstrap:  resample dialogs this many times for 95 % intervals.
    """
    _require_types(corpus, metrics, schedules, components, fill)
    require_type("bootstrap", bootstrap, "a whole number", int)
    require_count("seed", seed)
    if isinstance(corpus, StateSets):
        if tracker is not None:
            raise UsageError("state sets contain their own predictions and take no tracker's output")
        source = Source(None, corpus)
    elif tracker is None:
        raise UsageError("a corpus is scored together with a tracker's output")
    else:
        source = Source(corpus, tracker)
    chosen = choose_metrics(source, _as_list(metrics), _as_list(fill) or [])
    weights = None
    if bootstrap:
        weights = item_weights(source.identity, source.n_dialogs, bootstrap, seed)
    measurements = measure(source, chosen, _as_list(schedules), _as_list(components))
    # The last bits of a matrix product depend on the number of BLAS threads; intervals must not.
    with threadpool_limits(1, user_api="blas") if bootstrap else nullcontext():
        rows = tuple(_rows(measurements, weights))
    if isinstance(source.tracker, StateSets) and source.tracker.value_rules:
        rows = tuple(replace(row, changed=source.tracker.n_values_changed) for row in rows)
    if not rows:
        raise UsageError(NOTHING)
    return Scores(rows, _made_by(source, bootstrap, seed), bootstrap > 0)


def _require_types(corpus: object, metrics: Any, schedules: Any, components: Any, fill: Any) -> None:
    """The arguments of `score` that tell what is scored."""
    require_type("corpus", corpus, "a Corpus (read_corpus), or StateSets (read_states)", Corpus, StateSets)
    lists = (
        ("metrics", metrics, "printed forms of metrics", (str, Metric)),
        ("schedules", schedules, "whole numbers, e.g. 1 or [1, 3]", (Integral,)),
        ("components", components, "names of components", (str,)),
        ("fill", fill, "fill rules, e.g. argmax", (str,)),
    )
    for name, given, expected, kinds in lists:
        if given is not None and not isinstance(given, kinds):
            require_type(name, given, expected, Sequence)
            for part in given:
                require_type(name, part, expected, *kinds)


def _rows(measurements: Iterator[Measurement], weights: Ints | None) -> Iterator[Score]:
    """Scores, with 95 % intervals where there are resamples.

    One group at a time, as statistics can be large; metrics that share them (all points of a ROC curve) are
    resampled together.
    """
    for _, group in groupby(measurements, key=lambda measured: id(measured.statistics)):
        together = list(group)
        intervals: list[Interval] = [(None, None)] * len(together)
        if weights is not None:
            metrics = [measured.metric for measured in together]
            values = resampled_values(weights, metrics, together[0].statistics)
            intervals = [
                (None, None) if measured.value is None else percentile_interval(resampled)
                for measured, resampled in zip(together, values, strict=True)
            ]
        for measured, (low, high) in zip(together, intervals, strict=True):
            yield Score(measured.tracker, **measured.described(), value=measured.value, low=low, high=high)


def _as_list(names: Any) -> Any:
    """A single name, number or metric counts as a list of one."""
    return [names] if isinstance(names, str | Integral | Metric) else names


def merge_scores(results: Sequence[Scores]) -> Scores:
    """The scores of several trackers combined; the signature has what they share and all their trackers."""
    if len(results) == 1:
        return results[0]
    shared, *others = [
        {name: value for name, value in result.made_by.items() if name != "tracker"} for result in results
    ]
    if any(other != shared for other in others):
        raise UsageError("scores of different corpora or resamples cannot be merged")
    trackers = content_hash(*(str(result.made_by["tracker"]) for result in results))[:12]
    rows = tuple(row for result in results for row in result.rows)
    return Scores(rows, {**shared, "trackers": trackers}, results[0].has_intervals)


def choose_metrics(
    source: Source, metrics: Sequence[str | Metric] | None, fill: Sequence[str]
) -> list[Metric]:
    """The metrics named, or those of the conventions; state metrics of beliefs by each fill rule."""
    requested = source.conventions.metrics if metrics is None else metrics
    chosen = [parse_metric(metric) if isinstance(metric, str) else metric for metric in requested]
    rules = [Fill.parse(rule) for rule in fill]
    if not rules:
        return chosen
    if metrics is None:
        return chosen + [Filled(parse_metric(name), rule) for rule in rules for name in STATE_SETS.metrics]
    # State metrics that were named without a fill rule are computed with each of the given rules.
    filled: list[Metric] = []
    for metric in chosen:
        lacks_rule = metric.kind == "state" and not isinstance(metric, Filled)
        filled += [Filled(metric, rule) for rule in rules] if lacks_rule else [metric]
    return filled


def origin_of(source: Source) -> dict[str, str | None]:
    """The format; of states also their gold, and the rules for values: what every signature begins with."""
    states = source.tracker if isinstance(source.tracker, StateSets) else None
    return {
        "format": source.conventions.name,
        "gold": states.gold_signature[:12] or None if states else None,
        "values": states.value_rules or None if states else None,
    }


def _made_by(source: Source, bootstrap: int, seed: int) -> dict[str, str | None]:
    return origin_of(source) | {
        "dataset": source.corpus.dataset if source.corpus else None,
        "corpus": source.corpus.signature[:12] if source.corpus else None,
        "tracker": source.tracker.signature[:12],
        "bootstrap": f"{bootstrap},seed={seed}" if bootstrap else None,
    }
