"""Tables and numbers that the text shows, from the stored ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from experiments.tables import markdown

Rows = list[dict[str, Any]]

LEVEL = 95.0
NEAR = 1.5
"""Points of coverage that are neither too many nor too few."""

RESAMPLED = ("dialogs", "trackers", "both")
DEFAULT = ("both", "percentile")
TRACKERS = ("trackers", "percentile")
JACKKNIFE = ("closed form", "jackknife")

PLAIN = ("normal", "heavy")
"""Populations whose truth a study of few trackers can see."""

SEEN = (*PLAIN, "noisy")
"""The same, of what so few dialogs show."""

TESTS = (
    "swapped trackers",
    "swapped both",
    "resampled both",
    "williams, points",
    "zou, points",
    "williams, trackers",
    "zou, trackers",
)


def in_percent(row: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return row | {key: 100.0 * row[key] for key in keys}


def values(rows: Rows, key: str) -> list[Any]:
    return list(dict.fromkeys(row[key] for row in rows))


def names(rows: Rows) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["way"], row["method"]) for row in rows))


def _of(rows: Rows, name: tuple[str, str], **where: Any) -> Rows:
    return [
        row
        for row in rows
        if (row["way"], row["method"]) == name and all(row[key] == value for key, value in where.items())
    ]


def _mean(rows: Rows, key: str = "coverage") -> float:
    return float(np.mean([row[key] for row in rows]))


def _off(rows: Rows) -> float:
    """How far from what is claimed, on average."""
    return float(np.mean([abs(row["coverage"] - LEVEL) for row in rows]))


def interval_table(rows: Rows, sizes: list[int]) -> str:
    others = [population for population in values(rows, "population") if population != "normal"]
    heads = ["way", "method", *(f"normal, {n}" for n in sizes), *others, "here", "lowest", "width"]
    table = []
    for name in names(rows):
        line: dict[str, Any] = {"way": name[0], "method": name[1]}
        line |= {f"normal, {n}": _mean(_of(rows, name, population="normal", n_trackers=n)) for n in sizes}
        line |= {population: _mean(_of(rows, name, population=population)) for population in others}
        seen = [row for row in _of(rows, name) if row["population"] in SEEN]
        line["here"] = _mean(seen, "coverage_here")
        line["lowest"] = min(row["coverage"] for row in _of(rows, name))
        line["width"] = _mean(_of(rows, name, population="normal"), "width")
        table.append(line)
    return markdown(table, heads)


def default_table(rows: Rows, sizes: list[int]) -> str:
    heads = [
        "population",
        "truth",
        *(f"{kind}, {n}" for kind in ("coverage", "mean r", "width") for n in sizes),
    ]
    table: dict[tuple[str, float], dict[str, Any]] = {}
    for row in _of(rows, DEFAULT):
        line = table.setdefault(
            (row["population"], row["truth"]), {"population": row["population"], "truth": row["truth"]}
        )
        for kind, key in (("coverage", "coverage"), ("mean r", "mean_r"), ("width", "width")):
            line[f"{kind}, {row['n_trackers']}"] = row[key]
    return markdown(list(table.values()), heads)


def null_table(rows: Rows, sizes: list[int]) -> str:
    keys = ("population", "noise_r", "interaction")
    heads = [*keys, *(f"{kind}, {n}" for kind in (".05", ".01") for n in sizes), "distance"]
    table: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        line = table.setdefault(tuple(row[key] for key in keys), {key: row[key] for key in keys})
        line[f".05, {row['n_trackers']}"] = row["at_05"]
        line[f".01, {row['n_trackers']}"] = row["at_01"]
        line["distance"] = max(row["ks"], line.get("distance", 0.0))
    return markdown(list(table.values()), heads)


def told_of_intervals(rows: Rows, sizes: list[int]) -> dict[str, Any]:
    plain = [row for row in rows if row["population"] in PLAIN]
    normal = [row for row in rows if row["population"] == "normal"]
    offered = [name for name in names(rows) if name[0] in RESAMPLED]
    best, second = sorted(offered, key=lambda name: _off(_of(plain, name)))[:2]
    highest, fewest = {"r": max(row["r"] for row in rows)}, {"n_trackers": sizes[0]}
    noisy = _of(rows, DEFAULT, population="noisy", **highest)
    return {
        "best": ", ".join(best),
        "best_mean": _mean(_of(plain, best)),
        "best_off": _off(_of(plain, best)),
        "second": ", ".join(second),
        "second_mean": _mean(_of(plain, second)),
        "second_off": _off(_of(plain, second)),
        "bca_trackers": _off(_of(plain, ("trackers", "bca"))),
        "bca_both": _off(_of(plain, ("both", "bca"))),
        "error": float(np.sqrt(LEVEL * (100.0 - LEVEL) / rows[0]["studies"])),
        "default": ", ".join(DEFAULT),
        "default_mean": _mean(_of(plain, DEFAULT)),
        "default_by_size": "\n".join(_told_of_size(rows, n) for n in sizes),
        "default_above": _mean(_of(normal, DEFAULT, **highest), "above"),
        "default_below": _mean(_of(normal, DEFAULT, **highest), "below"),
        "default_few": _mean(_of(normal, DEFAULT, **fewest)),
        **span("default_here", [row["coverage_here"] for row in _of(rows, DEFAULT, population="noisy")]),
        **span("trackers_here", [row["coverage_here"] for row in _of(rows, TRACKERS, population="noisy")]),
        "trackers": ", ".join(TRACKERS),
        "noisy_worst": min(row["coverage"] for row in noisy),
        "degenerate_mean": _mean(_of(rows, DEFAULT, population="degenerate")),
        "dialogs_mean": _mean(_of(normal, ("dialogs", "percentile"))),
        "dialogs_worst": min(row["coverage"] for row in _of(rows, ("dialogs", "percentile"))),
        "points_mean": _mean(_of(normal, ("closed form", "fisher, points"))),
        "fisher_mean": _mean(_of(normal, ("closed form", "fisher, trackers"))),
        "jackknife_mean": _mean(_of(plain, JACKKNIFE)),
        "jackknife_off": _off(_of(plain, JACKKNIFE)),
        "jackknife_few": _mean(_of(normal, JACKKNIFE, **fewest)),
    }


def _told_of_size(rows: Rows, n: int) -> str:
    told = []
    for population in values(rows, "population"):
        held = _mean(_of(rows, DEFAULT, population=population, n_trackers=n))
        word = "too seldom" if held < LEVEL - NEAR else "too often" if held > LEVEL + NEAR else "about right"
        told.append(f"{population} {held:.1f} % ({word})")
    return f"  - The default at {n} trackers:\n    {', '.join(told)}."


def span(name: str, values: list[float]) -> dict[str, float]:
    return {f"{name}_low": min(values), f"{name}_high": max(values)}


def told_of_p(rows: Rows) -> dict[str, float]:
    def shares(keep: Callable[[dict[str, Any]], bool]) -> list[float]:
        return [row["at_05"] for row in rows if keep(row)]

    return {
        **span("null", shares(lambda row: row["noise_r"] == 0.0 and row["population"] != "heavy")),
        **span("heavy", shares(lambda row: row["population"] == "heavy")),
        **span("shared", shares(lambda row: row["noise_r"] > 0.0 and row["population"] == "normal")),
        **span("loud", shares(lambda row: row["noise_r"] > 0.0 and row["population"] == "noisy")),
    }


def told_of_pairs(rows: Rows) -> dict[str, float]:
    equal = [row for row in rows if row["r_a"] == row["r_b"]]
    keys = {
        "swap": "swapped trackers",
        "both": "swapped both",
        "resampled": "resampled both",
        "williams": "williams, points",
        "few": "williams, trackers",
    }
    found: dict[str, float] = {}
    for name, key in keys.items():
        found |= span(name, [row[key] for row in equal])
    return found
