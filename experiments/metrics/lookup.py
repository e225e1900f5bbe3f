"""Finding rows of the tables, and what several claims have in common."""

from __future__ import annotations

from typing import Any

from experiments.metrics.files import FEWER, SYSTEMS
from experiments.metrics.judging import of_counts, of_interval, span
from experiments.metrics.published import AGA, F1, FGA, GCA, JGA, RSA, SA, TURN
from experiments.tables import one

Row = dict[str, Any]
Tables = dict[str, list[Row]]
Claim = tuple[str, str, str, str, str]
"""Paper, claim, what stands there, what is here, verdict."""

SAID = {
    FGA: "FGA(.5)",
    JGA: "JGA",
    SA: "SA",
    AGA: "AGA",
    RSA: "RSA",
    GCA: "GCA",
    F1: "F1",
    TURN: "turn match",
}


def files_of(rows: list[Row]) -> list[Row]:
    """Rows of single files."""
    return [row for row in rows if row["file"] not in (SYSTEMS, FEWER)]


def matches(row: Row, **wanted: Any) -> bool:
    return all(row.get(key) == value for key, value in wanted.items())


def worked(tables: Tables, paper: str, source: str) -> Claim:
    of = [row for row in tables["worked"] if row["source"].startswith(source)]
    right = sum(row["agrees"] == "yes" for row in of)
    here = f"{right} of {len(of)} figures"
    return paper, "worked examples", f"{len(of)} figures", here, of_counts(right, len(of) - right, len(of))


def separated(tables: Tables, systems: str, first: str, second: str) -> tuple[str, str]:
    counts = [one(tables["discrimination"], systems=systems, metric=name) for name in (first, second)]
    row = one(tables["compared"], what="separated", systems=systems, first=first, second=second)
    here = (
        f"{counts[0]['separated']} against {counts[1]['separated']} of {counts[0]['pairs']} pairs separated: "
        f"{span(row, 'difference', 'low', 'high', 0)}"
    )
    return here, of_interval(row["low"], row["high"])


def whole_test(tables: Tables, paper: str, source: str) -> Claim:
    """Published figures of the whole test set against intervals on our hundred dialogs."""
    of = [row for row in tables["whole_test"] if row["source"] == source]
    held = sum(row["low"] <= row["published"] <= row["high"] for row in of)
    there = ", ".join(f"{SAID[row['metric']]} {row['published']:.1f}" for row in of)
    here = ", ".join(span(row, "ours", "low", "high", 1) for row in of)
    verdict = of_counts(held, len(of) - held, len(of))
    return paper, "SOM-DST on the whole test set (here: 100 dialogs of it)", there, here, verdict
