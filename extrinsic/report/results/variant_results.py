"""What the tables say about each variant of a study, put together for words and figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from extrinsic.report.results.naming import Name
from extrinsic.report.results.table_columns import Row, Rows, Tables

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
        """Told apart by both: the interval lies away from 0, and swapping the metrics rarely does as much."""
        return is_clear(self.low, self.high, self.p)


@dataclass(frozen=True)
class VariantResults:
    """One variant (a fill rule; empty where the study has none) and its primary target.

    ranked: by group of trackers, the rows with a correlation, the best first.
    """

    variant: str
    target: str
    coefficient: str = "pearson"
    datasets: tuple[str, ...] = ()
    trackers: Rows = field(default_factory=list)
    ranked: dict[str, Rows] = field(default_factory=dict)
    reason: str | None = None
    pairs: Rows = field(default_factory=list)
    composite: Rows = field(default_factory=list)
    influence: Rows = field(default_factory=list)
    stability: Rows = field(default_factory=list)

    def best(self, group: str = "all") -> Row | None:
        rows = self.ranked.get(group)
        return rows[0] if rows else None

    def n_trackers(self, group: str = "all") -> int:
        return sum(1 for row in self.trackers if group == "all" or row["core"])

    @property
    def has_core(self) -> bool:
        """Whether leaving trackers out changes anything."""
        return self.n_trackers("core") < self.n_trackers("all")

    @property
    def groups(self) -> tuple[str, ...]:
        return GROUPS if self.has_core else GROUPS[:1]

    def differences(self, name: Name, group: str = "all") -> list[Difference]:
        """A metric against every other, in the order of the table of pairs."""
        return list(_against(self.pairs, name, group))

    def difference(self, first: Name, second: Name, group: str = "all") -> Difference | None:
        return next((found for found in self.differences(first, group) if found.other == second), None)

    def of_group(self, table: Rows, group: str) -> Rows:
        return [row for row in table if row["trackers"] == group]


def _against(pairs: Rows, name: Name, group: str) -> Iterator[Difference]:
    for row in pairs:
        # The name of the metric first: making two names of every row of a long table takes its time.
        if row["trackers"] != group or name.metric not in (row["metric_a"], row["metric_b"]):
            continue
        a, b = Name.of(row, "a"), Name.of(row, "b")
        if row["difference"] is None or name not in (a, b):
            continue
        if name == a:
            yield Difference(b, row["difference"], row["low"], row["high"], row["p"])
        else:
            yield Difference(a, -row["difference"], _minus(row["high"]), _minus(row["low"]), row["p"])


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def variant_results(tables: Tables, coefficient: str = "pearson") -> list[VariantResults]:
    """The evidence of every variant that was correlated, in the order of the study."""
    correlations = tables["correlations"]
    if not correlations:
        return []
    target = correlations[0]["target"]
    rows = [
        row
        for row in correlations
        if (row["target"], row["scope"], row["coefficient"]) == (target, "within", coefficient)
    ]
    variants = dict.fromkeys(row["variant"] for row in correlations)
    return [_of_variant(tables, rows, variant, target, coefficient) for variant in variants]


def _of_variant(tables: Tables, rows: Rows, variant: str, target: str, coefficient: str) -> VariantResults:
    mine = [row for row in rows if row["variant"] == variant]
    ranked = {
        group: sorted(
            (row for row in mine if row["trackers"] == group and row["r"] is not None),
            key=lambda row: -row["r"],
        )
        for group in GROUPS
    }
    wanted: dict[str, Any] = {"variant": variant, "target": target}

    def chosen(name: str, **more: Any) -> Rows:
        expected = wanted | more
        return [row for row in tables[name] if all(row[key] == value for key, value in expected.items())]

    return VariantResults(
        variant=variant,
        target=target,
        coefficient=coefficient,
        datasets=tuple(dict.fromkeys(row["dataset"] for row in tables["intrinsic"] if row["dataset"])),
        trackers=tables["trackers"],
        ranked=ranked,
        reason=next((row["reason"] for row in mine if row["reason"]), None),
        pairs=chosen("pairs", scope="within"),
        composite=chosen("composite", scope="within"),
        influence=chosen("influence", scope="within", coefficient=coefficient),
        stability=chosen("stability", scope="within"),
    )
