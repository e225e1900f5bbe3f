"""Rows as CSV files that do not change when they are made again."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extrinsic.correlation.estimate import Estimate
from extrinsic.correlation.verdicts import Verdict, side_of_zero


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], leave_out: Sequence[str] = ()) -> None:
    """Columns in order of first appearance, numbers to three decimals; `leave_out`: what differs by run."""
    heads = [key for key in dict.fromkeys(key for row in rows for key in row) if key not in leave_out]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, heads, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{v:.3f}" if isinstance(v, float) else v for key, v in row.items()})


def rounded(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows as the CSV files have them, so that a text made of either is the same."""
    return [{key: float(f"{v:.3f}") if isinstance(v, float) else v for key, v in row.items()} for row in rows]


def read_csv(path: Path) -> list[dict[str, Any]]:
    """The rows as they were before `write_csv`, rounded: whole numbers, numbers, nothing, or words."""
    with path.open(newline="") as file:
        return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(file)]


def markdown(rows: Sequence[Mapping[str, Any]], heads: Sequence[str]) -> str:
    """A table for a text; numbers as the CSV files have them, to two decimals."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cell(row.get(head)) for head in heads) + " |" for row in rows]
    return "\n".join(lines)


def chosen(rows: Sequence[dict[str, Any]], **where: Any) -> list[dict[str, Any]]:
    """The rows that have these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in where.items())]


def one(rows: Sequence[dict[str, Any]], **where: Any) -> dict[str, Any]:
    """The row that has these values, and no other does."""
    (row,) = chosen(rows, **where)
    return row


def without_fill(metric: str, fill: str) -> str:
    """`fga(0.5, fill=argmax)` as `fga(0.5)`."""
    return metric.replace(f", fill={fill}", "").replace(f"(fill={fill})", "")


def spelled(row: Mapping[str, Any] | None, name: str = "r") -> str:
    """A figure of a row with its interval."""
    return "" if row is None else f"{row[name]:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def estimate_row(estimate: Estimate, name: str, level: float = 0.95) -> dict[str, float]:
    """A single number under a name, with both of its intervals."""
    low, high = estimate.interval(level)
    jackknife_low, jackknife_high = estimate.jackknife(level)
    return {
        name: float(estimate.value),
        "low": float(low),
        "high": float(high),
        "jackknife_low": float(jackknife_low),
        "jackknife_high": float(jackknife_high),
    }


def side(row: Mapping[str, Any]) -> str:
    """Of 0: where the interval lies, and that of the jackknife, too, where the row has one."""
    pairs = [(row["low"], row["high"])]
    if row.get("jackknife_low") is not None:
        pairs.append((row["jackknife_low"], row["jackknife_high"]))
    verdict = side_of_zero(*pairs)
    return verdict if verdict is Verdict.NOT_RESOLVED else f"{verdict} 0"


def _value(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell or None


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "" if value is None else str(value)
