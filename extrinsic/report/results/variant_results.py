"""The results of each variant of a study, collected from its tables for text and figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

from extrinsic.report.results.naming import Name
from extrinsic.report.results.report_tables import Tables
from extrinsic.study.tables.schema import (
    BestSetRow,
    CompositeRow,
    CorrelationRow,
    InfluenceRow,
    PairRow,
    PartialRow,
    StabilityRow,
    TrackerRow,
)

GROUPS = ("all", "core")
LEVEL = 0.05


def is_clear(low: float | None, high: float | None, p: float | None) -> bool:
    away = low is not None and high is not None and (low > 0 or high < 0)
    return away and p is not None and p < LEVEL


@dataclass(frozen=True)
class Difference:
    """How much better the first of two metrics correlates, with an interval and a p-value."""

    other: Name
    difference: float
    low: float | None
    high: float | None
    p: float | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0 and swapping the metrics rarely gives as large a difference."""
        return is_clear(self.low, self.high, self.p)


class Ends(NamedTuple):
    """The ends of an interval, None where there is none."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class VariantResults:
    """One variant (a fill rule; empty where the study has none) and its primary target.

    ranked: by group of trackers, the rows whose correlation is defined, the best first.
    elsewhere: correlations with the other targets.   partial: with the target, given the logged return.
    """

    variant: str
    target: str
    coefficient: str = "pearson"
    datasets: tuple[str, ...] = ()
    trackers: list[TrackerRow] = field(default_factory=list)
    ranked: dict[str, list[CorrelationRow]] = field(default_factory=dict)
    reason: str | None = None
    best_set: list[BestSetRow] = field(default_factory=list)
    pairs: list[PairRow] = field(default_factory=list)
    composite: list[CompositeRow] = field(default_factory=list)
    influence: list[InfluenceRow] = field(default_factory=list)
    stability: list[StabilityRow] = field(default_factory=list)
    elsewhere: list[CorrelationRow] = field(default_factory=list)
    partial: list[PartialRow] = field(default_factory=list)

    def best(self, group: str = "all") -> CorrelationRow | None:
        rows = self.ranked.get(group)
        return rows[0] if rows else None

    def n_trackers(self, group: str = "all") -> int:
        return sum(1 for row in self.trackers if group == "all" or row.core)

    @property
    def has_core(self) -> bool:
        """Whether leaving trackers out changes anything."""
        return self.n_trackers("core") < self.n_trackers("all")

    @property
    def groups(self) -> tuple[str, ...]:
        return GROUPS if self.has_core else GROUPS[:1]

    def may_be_best(self, group: str = "all") -> list[BestSetRow]:
        """The metrics of the best set, the highest correlation first; none where nothing is decided."""
        rows = [row for row in rows_of_group(self.best_set, group) if row.in_set]
        return sorted(rows, key=lambda row: row.rank or 0)

    def simultaneous(self, row: CorrelationRow) -> Ends:
        """The interval of a metric that was picked: it holds for all metrics at once.

        The metric's own interval where there is none; nothing where that is withheld.
        """
        if row.reason:
            return Ends(None, None)
        name = Name.of(row)
        for other in rows_of_group(self.best_set, row.trackers):
            if Name.of(other) == name and other.low is not None:
                return Ends(other.low, other.high)
        return Ends(row.low, row.high)

    def differences(self, name: Name, group: str = "all") -> list[Difference]:
        """A metric against every other, in the order of the table of pairs."""
        return list(_against(self.pairs, name, group))

    def difference(self, first: Name, second: Name, group: str = "all") -> Difference | None:
        differences = self.differences(first, group)
        return next((difference for difference in differences if difference.other == second), None)


class GroupRow(Protocol):
    """A row about a group of trackers, `all` or `core`."""

    @property
    def trackers(self) -> str: ...


G = TypeVar("G", bound=GroupRow)


def rows_of_group(rows: Sequence[G], group: str) -> list[G]:
    return [row for row in rows if row.trackers == group]


def _against(pairs: Sequence[PairRow], name: Name, group: str) -> Iterator[Difference]:
    for row in pairs:
        # Compare the metric first: building two names for every row of a long table is slow.
        if row.trackers != group or name.metric not in (row.metric_a, row.metric_b):
            continue
        a, b = Name.of_pair(row)
        if name == a:
            yield Difference(b, row.difference, row.low, row.high, row.p)
        elif name == b:
            yield Difference(a, -row.difference, _minus(row.high), _minus(row.low), row.p)


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def variant_results(tables: Tables, coefficient: str = "pearson") -> list[VariantResults]:
    """The results of every variant that was correlated, in the order of the study."""
    if not tables.correlations:
        return []
    target = tables.correlations[0].target
    variants = dict.fromkeys(row.variant for row in tables.correlations)
    return [_of_variant(tables, variant, target, coefficient) for variant in variants]


def _of_variant(tables: Tables, variant: str | None, target: str, coefficient: str) -> VariantResults:
    within = (variant, target, "within")
    correlations = [
        row
        for row in tables.correlations
        if (row.variant, row.target, row.scope) == within and row.coefficient == coefficient
    ]
    elsewhere = [
        row
        for row in tables.correlations
        if (row.variant, row.scope, row.coefficient) == (variant, "within", coefficient)
        and row.target != target
    ]
    influence = [row for row in tables.influence if row.coefficient == coefficient]
    return VariantResults(
        variant=variant or "",
        target=target,
        coefficient=coefficient,
        datasets=tuple(dict.fromkeys(row.dataset for row in tables.intrinsic)),
        trackers=tables.trackers,
        ranked={group: _ranked(rows_of_group(correlations, group)) for group in GROUPS},
        reason=next((row.reason for row in correlations if row.reason), None),
        best_set=[row for row in tables.best_set if (row.variant, row.target, row.scope) == within],
        pairs=[row for row in tables.pairs if (row.variant, row.target, row.scope) == within],
        composite=[row for row in tables.composite if (row.variant, row.target, row.scope) == within],
        influence=[row for row in influence if (row.variant, row.target, row.scope) == within],
        stability=[row for row in tables.stability if (row.variant, row.target, row.scope) == within],
        elsewhere=elsewhere,
        partial=[row for row in tables.partial if (row.variant, row.target, row.scope) == within],
    )


def _ranked(rows: Sequence[CorrelationRow]) -> list[CorrelationRow]:
    """The rows whose correlation is defined, the largest first."""
    defined = [(row.r, row) for row in rows if row.r is not None]
    return [row for _, row in sorted(defined, key=lambda pair: -pair[0])]
