"""One metric in every study: the correlations that the overview puts side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.dstc2.shown import headline
from experiments.tables import chosen, read_csv, without_fill

STUDIES = Path(__file__).parents[1]

Row = dict[str, Any]
Tables = dict[str, list[Row]]
Found = dict[str, Row | None]
"""By metric: r with low and high; None where the study has no such metric."""

SOURCES = {
    "lee2014": ("correlations", "findings", "beyond", "numbers", "trackers"),
    "dstc2": ("correlations", "differences", "beyond", "gains", "trackers"),
    "multiwoz": ("splits", "between", "counts"),
    "uncertainty": ("coverage",),
}

METRICS = (
    "accuracy",
    "mrr",
    "avgp",
    "l2",
    "roc.v1_eer",
    "roc.v2_ca05",
    "jga",
    "slot_accuracy",
    "relative_slot_accuracy",
    "average_goal_accuracy",
    "improved_average_goal_accuracy",
    "slot_f1",
    "turn_match",
    "fga(0.5)",
    "gca",
)
"""Of joint goals over all turns, then of states."""

FILL = "argmax"


def read_tables(studies: Path = STUDIES) -> Tables:
    """By `study/table`."""
    return {
        f"{study}/{name}": read_csv(studies / study / f"{name}.csv")
        for study, names in SOURCES.items()
        for name in names
    }


def places(tables: Tables) -> dict[str, Found]:
    """By study, how every metric correlates with what the study asks for."""
    return {
        "embedded": _embedded(tables["lee2014/correlations"]),
        "dstc2": _dstc2(tables["dstc2/correlations"], "all"),
        "dstc2 core": _dstc2(tables["dstc2/correlations"], "core"),
        "between systems": _multiwoz(tables["multiwoz/splits"], "between"),
        "within a system": _multiwoz(tables["multiwoz/splits"], "within"),
    }


def _by_metric(rows: dict[str, Row]) -> Found:
    return {metric: rows.get(metric) for metric in METRICS}


def _embedded(rows: list[Row]) -> Found:
    """Against live play; r of all trackers with its interval, and `core`."""
    return _by_metric(
        {
            without_fill(row["metric"], FILL): row
            for row in rows
            if (row["fill"], row["target"], row["schedule"]) == (FILL, "live", 1)
            and row["component"] in ("joint", "state")
            and row["r"] is not None
        }
    )


def _dstc2(rows: list[Row], trackers: str) -> Found:
    found = headline(rows, FILL, trackers)
    return {metric: found.get(f"{metric}@1") for metric in METRICS}


def _multiwoz(rows: list[Row], split: str) -> Found:
    return _by_metric({row["metric"]: row for row in chosen(rows, outcome="success", split=split)})
