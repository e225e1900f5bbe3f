"""Scoring a tracker: every metric asked for, on every component, schedule and label scheme there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from extrinsic.corpus.model import Corpus
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics import DSTC1_METRICS, DSTC2_METRICS, STATE_METRICS, items_dstc1, items_dstc2
from extrinsic.metrics.definition import ItemMean, Metric
from extrinsic.metrics.fill import Fill, Filled
from extrinsic.metrics.parsing import parse_metric
from extrinsic.metrics.resampling import Resampler
from extrinsic.metrics.state_tables import (
    StateTable,
    beliefs_of_states,
    table_of_states,
    tables_of_filled_beliefs,
)
from extrinsic.metrics.tables import ItemTable
from extrinsic.metrics.update import Update
from extrinsic.signature import sign
from extrinsic.storage import content_hash

if TYPE_CHECKING:
    import pandas

DEFAULT_METRICS = {"dstc1": DSTC1_METRICS, "dstc2": DSTC2_METRICS, "state-sets": STATE_METRICS}


@dataclass(frozen=True)
class Score:
    """One number: what was measured, on how many items; an interval where dialogs were resampled."""

    tracker: str
    component: str
    metric: str
    schedule: int
    label_scheme: str | None
    n: int
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Scores:
    """The scores of one tracker or several, and what made them."""

    rows: tuple[Score, ...]
    signature: str
    has_intervals: bool = False

    def as_rows(self) -> list[dict[str, Any]]:
        """Plain dictionaries; without intervals where none were asked for."""
        rows = [asdict(row) for row in self.rows]
        if not self.has_intervals:
            for row in rows:
                del row["low"], row["high"]
        return rows

    def to_dataframe(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame, if pandas is installed."""
        try:
            import pandas
        except ImportError:
            raise UsageError("to_dataframe needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.as_rows())


class Source:
    """A tracker's items of every kind, made when a metric first asks for them."""

    def __init__(self, corpus: Corpus | None, tracker: TrackerOutput | StateSets) -> None:
        self.corpus, self.tracker = corpus, tracker
        self._filled: dict[Fill, list[StateTable]] = {}

    @property
    def format(self) -> str:
        return self.corpus.format if self.corpus else "state-sets"

    @property
    def n_dialogs(self) -> int:
        return self.corpus.n_dialogs if self.corpus else self.tracker.n_dialogs  # type: ignore[union-attr]

    @cached_property
    def belief_tables(self) -> list[ItemTable]:
        if isinstance(self.tracker, StateSets):
            return [beliefs_of_states(self.tracker)]
        assert self.corpus is not None
        build = items_dstc1.build_tables if self.corpus.format == "dstc1" else items_dstc2.build_tables
        return build(self.corpus, self.tracker)

    @cached_property
    def state_tables(self) -> list[StateTable]:
        assert isinstance(self.tracker, StateSets)
        return [table_of_states(self.tracker)]

    def tables(self, metric: Metric | Filled) -> Sequence[ItemTable | StateTable]:
        """The tables that a metric is computed on."""
        if isinstance(metric, Filled):
            if isinstance(self.tracker, StateSets):
                raise UsageError(f"{metric}: state sets are filled already and take no fill rule")
            assert self.corpus is not None
            if metric.fill not in self._filled:
                self._filled[metric.fill] = list(
                    tables_of_filled_beliefs(self.corpus, self.tracker, metric.fill)
                )
            return self._filled[metric.fill]
        if metric.kind == "state":
            if not isinstance(self.tracker, StateSets):
                raise UsageError(
                    f"{metric} needs states, and this tracker has beliefs: say how they are filled, "
                    f"e.g. {Filled(metric, Fill('argmax'))} or --fill argmax"
                )
            return self.state_tables
        self._require(metric)
        return self.belief_tables

    def _require(self, metric: Metric) -> None:
        table = self.belief_tables[0]
        lacking = isinstance(metric, ItemMean) and metric.field not in table.fields
        if lacking or (isinstance(metric, Update) and table.top is None):
            raise UsageError(f"the metric {metric} is not defined for {self.format}")


def score(
    corpus: Corpus | StateSets,
    tracker: TrackerOutput | None = None,
    *,
    metrics: Sequence[str | Metric | Filled] | None = None,
    schedules: Sequence[int] | None = None,
    components: Sequence[str] | None = None,
    fill: Sequence[str] = (),
    bootstrap: int = 0,
    seed: int = 0,
) -> Scores:
    """Score a tracker's output over its corpus, or a file of state sets.

    metrics:    printed forms; default: all that belong to the format.
    schedules, components: default: all there are (of state sets: every turn, all slots together).
    fill:       also score a belief tracker with the state-set metrics, by these fill rules.
    bootstrap:  resample dialogs this many times for 95 % intervals.
    """
    if isinstance(corpus, StateSets):
        source = Source(None, corpus)
    elif tracker is None:
        raise UsageError("a corpus is scored together with a tracker's output")
    else:
        source = Source(corpus, tracker)
    if source.n_dialogs == 0:
        raise UsageError("nothing to score: there are no dialogs")
    chosen = _choose_metrics(source, metrics, fill)
    resampler = Resampler(source.n_dialogs, bootstrap, seed) if bootstrap else None
    rows = tuple(_score_all(source, chosen, schedules, components, resampler))
    if not rows:
        raise UsageError("nothing to score: these metrics have no such component on such a schedule")
    return Scores(rows, _signature(source, bootstrap, seed), resampler is not None)


def merge_scores(results: Sequence[Scores]) -> Scores:
    """The scores of several trackers as one; signed by what they share and by all that made them."""
    if len(results) == 1:
        return results[0]
    parts = [dict(part.split(":", 1) for part in result.signature.split("|")) for result in results]
    shared = {name: value for name, value in parts[0].items() if name not in ("extrinsic", "tracker")}
    trackers = content_hash(*(part["tracker"] for part in parts))[:12]
    rows = tuple(row for result in results for row in result.rows)
    return Scores(rows, sign(**shared, trackers=trackers), results[0].has_intervals)


def _choose_metrics(
    source: Source, metrics: Sequence[str | Metric | Filled] | None, fill: Sequence[str]
) -> list[Metric | Filled]:
    asked = DEFAULT_METRICS[source.format] if metrics is None else metrics
    chosen = [parse_metric(metric) if isinstance(metric, str) else metric for metric in asked]
    rules = [Fill.parse(rule) for rule in fill]
    if rules and metrics is None:
        chosen += [Filled(parse_metric(name), rule) for rule in rules for name in STATE_METRICS]  # type: ignore[arg-type]
    elif rules:
        # Metrics of states that were named without a rule are taken by each of the rules given.
        chosen = [
            filled
            for metric in chosen
            for filled in (
                [Filled(metric, rule) for rule in rules]
                if isinstance(metric, Metric) and metric.kind == "state"
                else [metric]
            )
        ]
    return chosen


def _score_all(
    source: Source,
    metrics: Sequence[Metric | Filled],
    schedules: Sequence[int] | None,
    components: Sequence[str] | None,
    resampler: Resampler | None,
) -> Iterator[Score]:
    """Rows by schedule, label scheme and component, the metrics of each together."""
    by_tables: dict[int, list[Metric | Filled]] = {}
    tables_of: dict[int, Sequence[ItemTable | StateTable]] = {}
    for metric in metrics:
        tables = source.tables(metric)
        by_tables.setdefault(id(tables), []).append(metric)
        tables_of[id(tables)] = tables
    _check_names(list(tables_of.values()), schedules, components)
    for identity, group in by_tables.items():
        tables = tables_of[identity]
        for schedule in _choose_schedules(tables[0], schedules):
            for table in tables:
                for component in _choose_components(table, components):
                    items = table.select(component, schedule)
                    for metric in group:
                        if schedule != 1 and _of_whole_dialogs(metric):
                            continue
                        yield _score_one(source, metric, table, component, schedule, items, resampler)


def _score_one(
    source: Source, metric: Metric | Filled, table: ItemTable | StateTable, component: str, schedule: int,
    items: Any, resampler: Resampler | None,
) -> Score:  # fmt: skip
    inner = metric.metric if isinstance(metric, Filled) else metric
    statistics = inner.statistics(items)
    value = inner.value(statistics.sum(0))
    low, high = resampler.interval(inner, statistics) if resampler and value is not None else (None, None)
    return Score(
        tracker=source.tracker.name,
        component=component,
        metric=str(metric),
        schedule=schedule,
        label_scheme=table.label_scheme,
        n=inner.count(items),
        value=value,
        low=low,
        high=high,
    )


def _of_whole_dialogs(metric: Metric | Filled) -> bool:
    return (metric.metric if isinstance(metric, Filled) else metric).whole_dialogs


def _choose_schedules(table: ItemTable | StateTable, schedules: Sequence[int] | None) -> list[int]:
    if schedules is None:
        return [1] if isinstance(table, StateTable) else list(table.schedules)
    return [schedule for schedule in table.schedules if schedule in schedules]


def _choose_components(table: ItemTable | StateTable, components: Sequence[str] | None) -> list[str]:
    if components is None:
        # Of state sets the domains are left out unless asked for.
        return list(table.components)[:1] if isinstance(table, StateTable) else list(table.components)
    return [component for component in table.components if component in components]


def _check_names(
    groups: Sequence[Sequence[ItemTable | StateTable]],
    schedules: Sequence[int] | None,
    components: Sequence[str] | None,
) -> None:
    """Refuse schedules and components that none of the tables has."""
    tables = [table for group in groups for table in group]
    known_schedules = sorted({schedule for table in tables for schedule in table.schedules})
    for schedule in schedules or ():
        if schedule not in known_schedules:
            there = ", ".join(map(str, known_schedules))
            raise UsageError(f"there is no schedule {schedule} here", expected=f"one of {there}")
    known = list(dict.fromkeys(name for table in tables for name in table.components))
    for component in components or ():
        if component not in known:
            raise UsageError(f"there is no component {component!r}; {did_you_mean(component, known)}")


def _signature(source: Source, bootstrap: int, seed: int) -> str:
    return sign(
        format=source.format,
        dataset=source.corpus.dataset if source.corpus else None,
        corpus=source.corpus.signature[:12] if source.corpus else None,
        tracker=source.tracker.signature[:12],
        bootstrap=f"{bootstrap},seed={seed}" if bootstrap else None,
    )
