"""Metrics against returns on dev: of all trackers, of the core ones, and of the good ones alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.dstc2.candidates import FILLS
from experiments.dstc2.cells import DSTC, STATES, TARGET, Cell
from experiments.tables import estimate_row, without_fill
from extrinsic.correlation.estimate import Estimate, correlation_estimate
from extrinsic.correlation.resampling import draw_trackers
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.correlating.panel import MetricName, Panel
from extrinsic.study.finished_run import Run
from extrinsic.study.stored_panel import stored_panel

Rows = list[dict[str, Any]]

REFERENCE = "accuracy"
COMPARED = (*(metric for metric in DSTC if metric != REFERENCE), *STATES)
LOGGED = "behaviour.observed"
OTHER_TARGETS = ("rl.lstd_augmented", "rl.fqe_augmented", "rl.lstd", LOGGED)


def panels_of(cell: Cell, run: Run) -> dict[str, Panel]:
    """By fill rule; of the main run with all targets."""
    targets = (TARGET, *OTHER_TARGETS) if cell.is_main else (TARGET,)
    return {fill: stored_panel(run, f"fill={fill}", targets) for fill in FILLS}


def relation_rows(cell: Cell, run: Run, panels: dict[str, Panel], good: list[str]) -> tuple[Rows, Rows]:
    """Rows of correlations and of differences between metrics."""
    correlations: Rows = []
    differences: Rows = []
    core = [row.tracker for row in run.table("trackers") if row.core]
    for fill, panel in panels.items():
        groups = {"all": list(panel.trackers), "core": core, "good": good, "slots": without_joint_only(core)}
        for group, names in groups.items():
            chosen = np.array([i for i, name in enumerate(panel.trackers) if name in names], dtype=np.int64)
            some = panel.take_trackers(chosen)
            label = {**cell.label, "fill": fill, "trackers": group, "n": len(chosen)}
            found, apart = _related(some, run)
            correlations += [{**label, **row} for row in found if _is_kept(row, cell, group)]
            differences += [{**label, **row} for row in apart if group != "slots"]
    return correlations, differences


def is_headline(name: MetricName) -> bool:
    """Joint goals on every schedule, and the state-set metrics over all turns."""
    metric, schedule, component, _ = name
    if component == "goal.joint":
        return metric in DSTC
    return component in ("state", "all") and schedule == 1 and bare(metric) in STATES


def bare(metric: str) -> str:
    """Without its fill rule: states are always filled by argmax here."""
    return without_fill(metric, FILLS[0])


def without_joint_only(trackers: list[str]) -> list[str]:
    """Those that score slots: the Yarbus files hold joint hypotheses only, so that by the challenge's scorer
    every one of their slots is empty, and goal.all says nothing about them."""
    return [name for name in trackers if not name.startswith("yarbus_")]


def _is_kept(row: dict[str, Any], cell: Cell, group: str) -> bool:
    of_slots = row["metric"] in ("accuracy", "l2") and row["schedule"] == 1 and row["target"] == TARGET
    if group == "slots" or not row["headline"]:
        return cell.is_main and of_slots and row["component"].startswith("goal.")
    return True


def _related(panel: Panel, run: Run) -> tuple[Rows, Rows]:
    settings = read_study(run.folder / "config.toml")
    table = settings.correlation
    drawn = draw_trackers(panel.identity, len(panel.trackers), table.resamples, settings.seed)
    correlations = correlation_estimate(panel.sample, "pearson", "within", "both", drawn)
    rows: Rows = []
    for k, target in enumerate(panel.targets):
        for m, name in enumerate(panel.metrics):
            headline = is_headline(name)
            if (k == 0 or headline) and not np.isnan(correlations.value[m, k]):
                label = {"target": target, **_named(name), "headline": headline}
                rows.append({**label, **estimate_row(correlations.take(m, k), "r", table.level)})
    return rows, _differences(panel, correlations, table.level)


def _differences(panel: Panel, correlations: Estimate, level: float) -> Rows:
    """Of each compared metric from accuracy, on the same resamples; and of schedule 2 from the others."""
    place = {(bare(name[0]), name[1]): m for m, name in enumerate(panel.metrics) if is_headline(name)}
    pairs = [((metric, 1), (REFERENCE, 1)) for metric in COMPARED]
    pairs += [((metric, 2), (metric, other)) for metric in (REFERENCE, "l2") for other in (1, 3)]
    rows: Rows = []
    for a, b in pairs:
        if a in place and b in place:
            apart = correlations.take(place[a], 0).minus(correlations.take(place[b], 0))
            label = {"metric": f"{a[0]}@{a[1]}", "than": f"{b[0]}@{b[1]}"}
            rows.append({**label, **estimate_row(apart, "difference", level)})
    return rows


def _named(name: MetricName) -> dict[str, Any]:
    metric, schedule, component, _ = name
    return {"metric": bare(metric), "schedule": schedule, "component": component}
