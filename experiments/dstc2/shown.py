"""The tables of the text, from those that are stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.beyond import KINDS
from experiments.dstc2.candidates import FILLS
from experiments.dstc2.cells import CELLS, TARGET
from experiments.dstc2.relations import OTHER_TARGETS
from experiments.tables import chosen, markdown, spelled

Rows = list[dict[str, Any]]
Row = dict[str, Any]

GROUPS = ("all", "core", "good")
MAIN = {"manager": "seen", "absent": "correct"}
FEW = ("accuracy", "jga", "gca", "avgp", "l2", "roc.v2_ca05")
"""Shown where there is no room for all."""


def headline(rows: Rows, fill: str, trackers: str, target: str = TARGET, **cell: Any) -> dict[str, Row]:
    """By `metric@schedule`, the headline metrics against a target."""
    where = {**MAIN, **cell, "fill": fill, "trackers": trackers, "target": target, "headline": "True"}
    return {f"{row['metric']}@{row['schedule']}": row for row in chosen(rows, **where)}


def main_table(rows: Rows) -> str:
    """Metrics by how they correlate among the core trackers under the first fill rule."""
    found = {(fill, group): headline(rows, fill, group) for fill in FILLS for group in GROUPS}
    first = found[FILLS[0], "core"]
    heads = ["metric", *(f"{fill}, {group} ({_size(found[fill, group])})" for fill, group in found)]
    lines = [
        {
            "metric": name,
            **dict(zip(heads[1:], (spelled(of.get(name)) for of in found.values()), strict=True)),
        }
        for name in sorted(first, key=lambda name: -first[name]["r"])
    ]
    return markdown(lines, heads)


def _size(found: dict[str, Row]) -> int:
    return int(next(iter(found.values()))["n"])


def difference_table(rows: Rows) -> str:
    keys = [(fill, group) for fill in FILLS for group in GROUPS]
    of = {
        (fill, group): {
            (row["metric"], row["than"]): row for row in chosen(rows, **MAIN, fill=fill, trackers=group)
        }
        for fill, group in keys
    }
    heads = ["metric", "than", *(f"{fill}, {group}" for fill, group in keys)]
    lines = [
        {
            "metric": metric,
            "than": than,
            **{
                f"{fill}, {group}": spelled(of[fill, group].get((metric, than)), "difference")
                for fill, group in keys
            },
        }
        for metric, than in of[keys[0]]
    ]
    return markdown(lines, heads)


def cell_table(rows: Rows, trackers: str = "core") -> str:
    """The few in every run under every fill rule, and which headline metric is first."""
    lines = []
    for cell in CELLS:
        for fill in FILLS:
            found = headline(rows, fill, trackers, **cell.label)
            first = max(found, key=lambda name: found[name]["r"])
            few = {name: found[f"{name}@1"]["r"] for name in FEW}
            lines.append({**cell.label, "fill": fill, **few, "first": f"{first} {found[first]['r']:.2f}"})
    return markdown(lines, ("manager", "absent", "fill", *FEW, "first"))


def target_table(rows: Rows, trackers: str = "core") -> str:
    """The few against other words on the same policies, and against the logged policy's return."""
    lines = []
    for target in (TARGET, *OTHER_TARGETS):
        for fill in FILLS:
            found = headline(rows, fill, trackers, target)
            lines.append(
                {"target": target, "fill": fill, **{name: spelled(found[f"{name}@1"]) for name in FEW}}
            )
    return markdown(lines, ("target", "fill", *FEW))


def gain_table(rows: Rows) -> str:
    """Over all trackers but the degenerate one; clear: the interval of the difference lies above 0."""
    lines = []
    for cell in CELLS:
        for fill in FILLS:
            some = [row for row in chosen(rows, **cell.label, fill=fill) if row["tracker"] != DEGENERATE]
            line: Row = {**cell.label, "fill": fill, "trackers": len(some)}
            line["logged"] = mean(some, "behaviour")
            for name, label in (("rl_behaviour", "rl - logged"), ("rl_sl", "rl - sl")):
                line[label] = mean(some, name)
                line[f"{label} > 0"] = sum(row[name] > 0 for row in some)
                line[f"{label} clear"] = sum(row[f"{name}_low"] > 0 for row in some)
            lines.append(line)
    return markdown(lines, list(lines[0]))


DEGENERATE = "last_turn"


def mean(rows: Rows, name: str) -> float:
    return float(np.mean([row[name] for row in rows]))


def choice_table(rows: Rows) -> str:
    return markdown(
        rows, ("features", "gamma", "ridge", "threshold", "gain", "behind", "standard_error", "flags")
    )


def control_table(rows: Rows) -> str:
    lines = [
        {
            "metric": row["metric"],
            "calls": row["calls"],
            "between calls": spelled(row, "between_calls"),
            "pooled": row["pooled"],
        }
        for row in sorted(rows, key=lambda row: -row["between_calls"])
    ]
    return markdown(lines, ("metric", "calls", "between calls", "pooled"))


def slots_table(rows: Rows) -> str:
    """Slots together against joint goals, with and without the trackers that score no slots."""
    lines = []
    for metric in ("accuracy", "l2"):
        for component in ("goal.joint", "goal.all"):
            line: Row = {"metric": f"{metric}@1", "component": component}
            for group in ("all", "core", "slots"):
                for fill in FILLS:
                    where = {**MAIN, "fill": fill, "trackers": group, "target": TARGET, "metric": metric}
                    found = chosen(rows, **where, component=component, schedule=1)[0]
                    line[f"{fill}, {group} ({found['n']})"] = spelled(found)
            lines.append(line)
    return markdown(lines, list(lines[0]))


def together_table(rows: Rows) -> str:
    """The confounder: what hiding the manager adds where calls of both are valued together."""
    lines = []
    for features, gamma in ((rows[0]["features"], rows[0]["gamma"]), ("grouped", 0.95)):
        for estimator in dict.fromkeys(row["estimator"] for row in rows):
            seen, hidden = (
                next(
                    row["rl_logged"]
                    for row in chosen(rows, manager=manager, features=features, gamma=gamma)
                    if row["estimator"] == estimator
                )
                for manager in ("seen", "hidden")
            )
            lines.append(
                {
                    "features": features,
                    "gamma": gamma,
                    "estimator": estimator,
                    "seen": seen,
                    "hidden": hidden,
                    "hidden - seen": hidden - seen,
                }
            )
    return markdown(lines, tuple(lines[0]))


def ways_table(rows: Rows) -> str:
    """RL less SL, learned and valued in other ways."""
    lines = [
        {**row, "rl - sl": f"{row['rl_sl']:+.1f} ({row['above']} of {row['trackers']})"}
        for row in chosen(rows, manager="seen")
    ]
    return markdown(lines, ("features", "gamma", "ridge", "threshold", "sl", "estimator", "rl - sl"))


def beyond_table(rows: Rows) -> str:
    """What metrics tell beyond the logged return, core trackers."""
    names = list(dict.fromkeys(row["metric"] for row in rows if row["metric"].endswith("@1")))
    lines = []
    for name in names:
        line: Row = {"metric": name}
        for kind, head in KINDS.items():
            for fill in FILLS:
                line[f"{head}, {fill}"] = spelled(chosen(rows, metric=name, kind=kind, fill=fill)[0])
        lines.append(line)
    return markdown(lines, list(lines[0]))
