"""The results of each variant of a study, collected from its tables for text and figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from extrinsic.report.results.report_tables import Tables
from extrinsic.study.health import joint_only_trackers
from extrinsic.study.naming import Name, is_of_single_slots, variant_title
from extrinsic.study.tables.metric_rows import (
    BestSetRow,
    CompositeRow,
    CorrelationRow,
    InfluenceRow,
    PairRow,
    StabilityRow,
)
from extrinsic.study.tables.value_rows import TrackerRow

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


@dataclass(frozen=True)
class VariantResults:
    """One variant (a fill rule; empty where the study has none) and its primary target.

    title: what people call the variant; empty where it is the only one.
    ranked: by group of trackers, the rows whose correlation is defined, the best first.
    """

    variant: str
    target: str
    title: str = ""
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

    def best(self, group: str = "all") -> CorrelationRow | None:
        rows = self.ranked.get(group)
        return rows[0] if rows else None

    def n_trackers(self, group: str = "all") -> int:
        return sum(1 for row in self.trackers if group == "all" or row.core)

    @property
    def heading(self) -> str:
        """The title before a sentence; empty where the variant is the only one."""
        return f"{self.title}: ".capitalize() if self.title else ""

    @property
    def has_core(self) -> bool:
        """Whether leaving trackers out changes anything."""
        return self.n_trackers("core") < self.n_trackers("all")

    @property
    def groups(self) -> tuple[str, ...]:
        return GROUPS if self.has_core else GROUPS[:1]

    @property
    def group(self) -> str:
        """The trackers that results rest on: the core, if it has any correlation."""
        return "core" if self.ranked.get("core") else "all"

    @property
    def sets(self) -> dict[Name, BestSetRow]:
        """The rows of the best set over these trackers."""
        return {Name.of(row): row for row in rows_of_group(self.best_set, self.group)}

    @property
    def judged(self) -> dict[Name, BestSetRow]:
        """Those of `sets` that the verdict is about: without single slots, where a tracker has none."""
        if not joint_only_trackers(self.trackers):
            return self.sets
        return {name: row for name, row in self.sets.items() if not is_of_single_slots(name)} or self.sets

    @property
    def n_generators(self) -> int | None:
        """Of a study that crosses trackers with generators: then its best set is over both."""
        return next((row.n_generators for row in self.best_set), None)

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


def variant_results(
    tables: Tables, coefficient: str = "pearson", target: str | None = None
) -> list[VariantResults]:
    """The results of every variant that was correlated, in the order of the study.

    target: the primary one, which alone has pairs of metrics, unless said.
    """
    if not tables.correlations:
        return []
    target = target or tables.correlations[0].target
    variants = dict.fromkeys(row.variant for row in tables.correlations)
    several = len(variants) > 1
    return [
        replace(
            _of_variant(tables, variant, target, coefficient), title=variant_title(variant) if several else ""
        )
        for variant in variants
    ]


def _of_variant(tables: Tables, variant: str | None, target: str, coefficient: str) -> VariantResults:
    within = (variant, target, "within")
    correlations = [
        row
        for row in tables.correlations
        if (row.variant, row.target, row.scope) == within and row.coefficient == coefficient
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
    )


def _ranked(rows: Sequence[CorrelationRow]) -> list[CorrelationRow]:
    """The rows whose correlation is defined, the largest first."""
    defined = [(row.r, row) for row in rows if row.r is not None]
    return [row for _, row in sorted(defined, key=lambda pair: -pair[0])]
