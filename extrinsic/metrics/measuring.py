"""Measuring a tracker: its items, and statistics of every metric on every component, schedule, label scheme.

A measurement keeps its statistics, so that dialogs (and trackers) can be resampled without scoring again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.conventions import Conventions, ScoreConventions
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.belief_items import ItemTable
from extrinsic.metrics.belief_metrics import Update
from extrinsic.metrics.definition import Filled, HypothesisMean, ItemMean, Metric
from extrinsic.metrics.roc import Roc
from extrinsic.metrics.roc_curves import Totals
from extrinsic.metrics.state_items import (
    ALL,
    StateTable,
    beliefs_of_states,
    table_of_states,
    tables_of_filled_beliefs,
)
from extrinsic.storage import content_hash

Interval = tuple[float | None, float | None]

BLOCK = 20_000_000
"""How many products of weights and columns are in memory at once."""


def resampled_values(weights: Ints, metrics: Sequence[Metric], statistics: Any) -> Floats:
    """(n_metrics, n_resamples) metrics that share their statistics, on each resample."""
    rows = max(1, BLOCK // max(1, statistics.shape[1]))
    values = np.empty((len(metrics), len(weights)))
    for begin in range(0, len(weights), rows):
        totals = weights[begin : begin + rows] @ statistics
        if isinstance(totals, Totals):
            totals.find(metric.condition for metric in metrics if isinstance(metric, Roc))
        for position, metric in enumerate(metrics):
            values[position, begin : begin + rows] = metric.values(totals)
    return values


def percentile_interval(values: Floats, level: float = 0.95) -> Interval:
    """The interval that contains the middle of the values; None where every resample is undefined."""
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return None, None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


Table = ItemTable | StateTable


class Source:
    """A tracker's items of every kind, built when a metric first needs them."""

    def __init__(self, corpus: Corpus | None, tracker: TrackerOutput | StateSets) -> None:
        if corpus is not None:
            if not isinstance(tracker, TrackerOutput):
                raise UsageError(
                    "a corpus is scored with a tracker's output; state sets are scored by themselves"
                )
            tracker.require_about(corpus)
        if tracker.n_dialogs == 0:
            raise UsageError("nothing to score: there are no dialogs")
        self.corpus, self.tracker = corpus, tracker
        self._filled: dict[Fill, list[StateTable]] = {}

    @property
    def conventions(self) -> ScoreConventions:
        """The conventions of the corpus, or of the state sets."""
        if isinstance(self.tracker, StateSets):
            return self.tracker.conventions
        assert self.corpus is not None
        return self.corpus.conventions

    @property
    def n_dialogs(self) -> int:
        return self.tracker.n_dialogs

    @property
    def identity(self) -> str:
        """The identity of the dialogs, independent of the tracker."""
        if self.corpus is not None:
            return self.corpus.signature
        assert isinstance(self.tracker, StateSets)
        return content_hash(*self.tracker.dialogs)

    @cached_property
    def belief_tables(self) -> list[ItemTable]:
        if isinstance(self.tracker, StateSets):
            return [beliefs_of_states(self.tracker)]
        assert self.corpus is not None
        conventions = self.corpus.conventions
        tables = list(conventions.build_items(self.corpus, self.tracker))
        _require_conventions(tables, conventions)
        return tables

    @cached_property
    def state_tables(self) -> list[StateTable]:
        assert isinstance(self.tracker, StateSets)
        return [table_of_states(self.tracker)]

    def tables(self, metric: Metric) -> Sequence[ItemTable | StateTable]:
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
                    f"e.g. {Filled(metric, Fill('argmax'))} (on the command line also --fill argmax)"
                )
            return self.state_tables
        table = self.belief_tables[0]
        lacking = isinstance(metric, ItemMean) and metric.field not in table.fields
        lacking |= isinstance(metric, HypothesisMean) and not table.hypotheses
        if lacking or (isinstance(metric, Update) and table.top is None):
            raise UsageError(f"the metric {metric} is not defined for {self.conventions.name}")
        return self.belief_tables


def _require_conventions(tables: Sequence[ItemTable], conventions: Conventions) -> None:
    """Raise UsageError for items that do not match their conventions, as a plugin's may."""
    schemes = tuple(table.label_scheme for table in tables)
    if schemes != conventions.label_schemes:
        raise UsageError(
            f"the items of {conventions.name!r} have other label schemes than its conventions",
            expected=repr(conventions.label_schemes),
            found=repr(schemes),
        )
    for table in tables:
        lacking = [
            f"the schedule {number}" for number in conventions.schedules if number not in table.schedules
        ]
        lacking += [
            f"the component {name!r}" for name in conventions.components if name not in table.components
        ]
        if lacking:
            raise UsageError(
                f"the items of {conventions.name!r} lack {', '.join(lacking)} of its conventions"
            )


@dataclass(frozen=True, eq=False)
class Measurement:
    """One metric of one tracker: what was measured, and (n_dialogs, k) additive statistics."""

    tracker: str
    component: str
    metric: Metric
    schedule: int
    label_scheme: str | None
    items: Any
    statistics: Any

    @cached_property
    def totals(self) -> Any:
        return self.statistics.sum(0)

    @property
    def value(self) -> float | None:
        return self.metric.value(self.totals)

    def described(self) -> dict[str, Any]:
        """What was measured on how many items, as tables have it."""
        return {
            "component": self.component,
            "metric": str(self.metric),
            "schedule": self.schedule,
            "label_scheme": self.label_scheme,
            "n": self.n,
        }

    @property
    def n(self) -> int:
        return self.metric.count(self.items, self.totals)


class ChoiceError(UsageError):
    """A schedule or a component that the dialogs do not have; choice: `schedules` or `components`."""

    def __init__(self, choice: str, message: str, **details: str) -> None:
        super().__init__(message, **details)
        self.choice = choice

    def __reduce__(self) -> tuple[Any, ...]:
        return UsageError, (self.problems,)


def measure(
    source: Source,
    metrics: Sequence[Metric],
    schedules: Sequence[int] | None = None,
    components: Sequence[str] | None = None,
) -> Iterator[Measurement]:
    """Measurements by schedule, label scheme and component, the metrics of each together."""
    groups: dict[int, tuple[Sequence[Table], list[Metric]]] = {}
    for metric in metrics:
        tables = source.tables(metric)
        groups.setdefault(id(tables), (tables, []))[1].append(metric)
    _check_names(source, [table for tables, _ in groups.values() for table in tables], schedules, components)
    for tables, group in groups.values():
        available = _schedules_of(source, tables[0])
        # State sets leave out the last turn and single domains by default; filled beliefs have no domains.
        of_sets = isinstance(tables[0], StateTable) and ALL in tables[0].components
        wanted = ([1] if of_sets else available) if schedules is None else schedules
        for schedule in (number for number in available if number in wanted):
            for table in tables:
                default = [ALL] if of_sets else table.components
                named = default if components is None else components
                for component in (name for name in table.components if name in named):
                    items = table.select(component, schedule)
                    for metric in group:
                        if schedule == 1 or not metric.whole_dialogs:
                            yield Measurement(
                                source.tracker.name,
                                component,
                                metric,
                                schedule,
                                table.label_scheme,
                                items,
                                metric.statistics(items),
                            )


def _schedules_of(source: Source, table: Table) -> list[int]:
    """The schedules of the conventions that the items have."""
    return [schedule for schedule in table.schedules if schedule in source.conventions.schedules]


def _check_names(
    source: Source, tables: Sequence[Table], schedules: Sequence[int] | None, components: Sequence[str] | None
) -> None:
    """Raise ChoiceError for schedules and components that none of the tables has."""
    all_schedules = sorted({schedule for table in tables for schedule in _schedules_of(source, table)})
    for schedule in schedules or ():
        if schedule not in all_schedules:
            available = ", ".join(map(str, all_schedules))
            raise ChoiceError(
                "schedules", f"there is no schedule {schedule} here", expected=f"one of {available}"
            )
    all_components = list(dict.fromkeys(name for table in tables for name in table.components))
    for component in components or ():
        if component not in all_components:
            raise ChoiceError(
                "components",
                f"there is no component {component!r}; {did_you_mean(component, all_components)}",
            )
