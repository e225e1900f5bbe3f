"""Measuring a tracker: statistics of every metric on every component, schedule and label scheme.

A measurement keeps its statistics, so that dialogs (and trackers) can be resampled without scoring again.
They add up over dialogs: a long corpus is measured in chunks of dialogs, to the same numbers, so that what is
computed on the way does not grow with it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.state_sets import StateSets
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.metrics.definition import Mean, Metric
from extrinsic.metrics.items.curves import RocCounts, RocStatistics, Totals
from extrinsic.metrics.items.item_tables import ItemTable
from extrinsic.metrics.items.state_tables import ALL, StateTable
from extrinsic.metrics.roc import Roc
from extrinsic.metrics.sources import Source
from extrinsic.storage import content_hash

Interval = tuple[float | None, float | None]

BLOCK = 20_000_000
"""How many products of weights and columns are in memory at once."""


def resample_dialogs(identity: str, n_dialogs: int, n_resamples: int, seed: int) -> Ints:
    """(n_resamples, n_dialogs) how often each dialog is drawn, with replacement.

    The draws depend only on the seed and the identity of the dialogs, so that every tracker and metric over
    the same dialogs gets the same resamples.
    """
    if n_resamples < 2:
        raise UsageError("a bootstrap needs at least 2 resamples", found=str(n_resamples))
    if seed < 0:
        raise UsageError("the seed of a bootstrap must be at least 0", found=str(seed))
    key = int(content_hash(identity)[:16], 16)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key,)))
    return rng.multinomial(n_dialogs, np.full(n_dialogs, 1.0 / n_dialogs), size=n_resamples)


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

CHUNK = 50_000
"""Turns at once; a corpus of less than two chunks is measured as a whole."""


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
    counted: int | None = None
    """Its n, where the items are no longer there."""

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
        return self.metric.count(self.items, self.totals) if self.counted is None else self.counted


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
    totals_only: bool = False,
) -> Iterator[Measurement]:
    """Measurements by schedule, label scheme and component, the metrics of each together.

    totals_only: nobody resamples dialogs, so only the sums of statistics are kept of a long corpus.
    """
    if isinstance(source.tracker, StateSets) or source.tracker.n_turns <= 2 * CHUNK:
        yield from _measure(source, metrics, schedules, components)
        return
    if totals_only:
        running = RunningTotals()
        for chunk in source.chunks(CHUNK):
            running.add(_measure(chunk, metrics, schedules, components))
        yield from running.measurements()
        return
    parts = [
        [_without_items(row) for row in _measure(chunk, metrics, schedules, components)]
        for chunk in source.chunks(CHUNK)
    ]
    # Metrics share a curve: it is joined once.
    joined: dict[tuple[int, ...], Any] = {}
    for rows in zip(*parts, strict=True):
        key = tuple(id(row.statistics) for row in rows)
        if key not in joined:
            joined[key] = _joined([row.statistics for row in rows])
        counts = [row.counted for row in rows if row.counted is not None]
        yield replace(rows[0], statistics=joined[key], counted=sum(counts) if counts else None)


class RunningTotals:
    """The measurements of a corpus part by part, of which only the sums over dialogs are kept.

    Sums are made dialog by dialog in the order of the corpus: they do not depend on the parts.
    """

    def __init__(self) -> None:
        self._rows: list[Measurement] = []
        self._sums: dict[int, Floats | RocCounts] = {}
        self._sum_of_row: list[int] = []

    def add(self, part: Iterable[Measurement]) -> None:
        """The measurements of the next part: the same ones in the same order each time."""
        rows = [(row, row.statistics) for row in part]
        if not self._rows:
            # Metrics may share their statistics, as those of a curve do.
            number: dict[int, int] = {}
            self._sum_of_row = [number.setdefault(id(statistics), len(number)) for _, statistics in rows]
        pairs = zip(self._sum_of_row, rows, strict=True)
        for key, (_, statistics) in dict(pairs).items():
            self._sums[key] = _summed(self._sums.get(key), statistics)
        counts = [row.counted or 0 for row in self._rows] or [0] * len(rows)
        self._rows = [
            replace(light, counted=None if light.counted is None else light.counted + before)
            for (row, _), before in zip(rows, counts, strict=True)
            for light in (replace(_without_items(row), statistics=None),)
        ]

    def measurements(self) -> Iterator[Measurement]:
        """Once: what was counted of a curve is given up with its last measurement, as there can be many."""
        left = Counter(self._sum_of_row)
        key_of_last, summed = -1, Summed(None)
        for row, key in zip(self._rows, self._sum_of_row, strict=True):
            left[key] -= 1
            if key != key_of_last:
                total = self._sums[key] if left[key] else self._sums.pop(key)
                key_of_last, summed = key, Summed(total.totals() if isinstance(total, RocCounts) else total)
            elif not left[key]:
                self._sums.pop(key)
            yield replace(row, statistics=summed)


@dataclass(frozen=True, eq=False)
class Summed:
    """Statistics of which there is only the sum."""

    totals: Any

    def sum(self, axis: int = 0) -> Any:
        assert axis == 0, "statistics are summed over dialogs"
        return self.totals


def _summed(total: Floats | RocCounts | None, statistics: Any) -> Floats | RocCounts:
    if isinstance(statistics, RocStatistics):
        counts = total if isinstance(total, RocCounts) else RocCounts(statistics.points)
        counts.add(statistics)
        return counts
    # Row after row, as a sum over a whole column of dialogs is: numpy adds along the first axis in order.
    rows = statistics if total is None else np.concatenate([np.asarray(total)[None], statistics])
    return np.asarray(rows.sum(axis=0))


def _without_items(row: Measurement) -> Measurement:
    """The n of a mean is one of its statistics, which is summed at the end; others count their items."""
    from_totals = type(row.metric).count is Mean.count
    return replace(row, items=None, counted=None if from_totals else row.n)


def _joined(statistics: Sequence[Any]) -> Any:
    first = statistics[0]
    return first.joined(*statistics[1:]) if isinstance(first, RocStatistics) else np.concatenate(statistics)


def _measure(
    source: Source,
    metrics: Sequence[Metric],
    schedules: Sequence[int] | None,
    components: Sequence[str] | None,
) -> Iterator[Measurement]:
    groups: dict[int, tuple[Sequence[Table], list[Metric]]] = {}
    for metric in metrics:
        tables = source.tables(metric)
        groups.setdefault(id(tables), (tables, []))[1].append(metric)
    _check_names(source, [table for tables, _ in groups.values() for table in tables], schedules, components)
    for tables, group in groups.values():
        for schedule in _choose_schedules(source, tables[0], schedules):
            for table in tables:
                for component in _choose_components(table, components):
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


def _choose_schedules(source: Source, table: Table, schedules: Sequence[int] | None) -> list[int]:
    if schedules is None and isinstance(table, StateTable) and ALL in table.components:
        schedules = [1]  # state sets leave out the last turn by default, filled beliefs do not
    available = _schedules_of(source, table)
    return available if schedules is None else [schedule for schedule in available if schedule in schedules]


def _choose_components(table: Table, components: Sequence[str] | None) -> list[str]:
    if components is None:
        # State sets leave out the single domains by default.
        return list(table.components)[:1] if isinstance(table, StateTable) else list(table.components)
    return [component for component in table.components if component in components]


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
