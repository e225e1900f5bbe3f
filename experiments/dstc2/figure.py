"""Correlations with the return under both fill rules; and what is gained with the manager seen and hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.dstc2.candidate_settings import FILLS
from experiments.dstc2.tables import Correlation, Gain
from experiments.figures import begin, plt, save
from experiments.selection import Selection

GROUPS = {"all": "#0072B2", "core": "#D55E00", "good": "#009E73"}
AT_THE_END = ("accuracy@3", "l2@3")
MANAGER = {"seen": "#0072B2", "hidden": "#D55E00"}


def draw(correlations: Selection[Correlation], gains: Selection[Gain], path: Path) -> None:
    """correlations: of headline metrics with the return in the main run; gains: of all runs."""
    begin(8.5)
    figure, panels = plt.subplots(1, 3, figsize=(11.5, 6.2), gridspec_kw={"width_ratios": (1.15, 1, 1.1)})
    core = sorted(correlations.where(fill=FILLS[0], trackers="core").rows, key=lambda row: row.r)
    names = [row.name for row in core if row.schedule == 1 or row.name in AT_THE_END]
    for panel, fill in zip(panels[:2], FILLS, strict=True):
        _draw_correlations(panel, correlations.where(fill=fill), names)
        panel.set_title(f"filled by {fill}")
    panels[0].set_yticks(range(len(names)), [_label(name) for name in names])
    panels[1].set_yticks(range(len(names)), [])
    panels[0].legend(loc="upper left", frameon=False)
    _draw_gains(panels[2], gains.where(absent="correct", fill=FILLS[0]))
    save(figure, path)


def _label(name: str) -> str:
    return name.replace("average_goal_accuracy", "AGA").replace("@1", "").replace("@", " @")


def _draw_correlations(panel: Any, correlations: Selection[Correlation], names: list[str]) -> None:
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    for number, (group, colour) in enumerate(GROUPS.items()):
        by_name = {row.name: row for row in correlations.where(trackers=group).rows}
        heights = [i for i, name in enumerate(names) if name in by_name]
        rows = [by_name[names[i]] for i in heights]
        at = np.array(heights) + 0.25 * (1 - number)
        panel.hlines(at, [row.low for row in rows], [row.high for row in rows], color=colour, linewidth=1.0)
        label = f"{group} ({rows[0].n} trackers)"
        panel.plot([row.r for row in rows], at, "o", color=colour, markersize=3.2, label=label)
    panel.set_xlim(-1.0, 1.03)
    panel.set_ylim(-0.7, len(names) - 0.3)
    panel.set_xlabel("r with the return, within condition")


def _draw_gains(panel: Any, gains: Selection[Gain]) -> None:
    """What the learned policy gains over the logged one, tracker by tracker."""
    ordered = sorted(gains.where(manager="seen").rows, key=lambda row: row.rl_behaviour)
    names = [row.tracker for row in ordered]
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    for number, (manager, colour) in enumerate(MANAGER.items()):
        by_name = {row.tracker: row for row in gains.where(manager=manager).rows}
        rows = [by_name[name] for name in names]
        at = np.arange(len(names)) + 0.15 * (1 - 2 * number)
        low, high = ([getattr(row, f"rl_behaviour_{end}") for row in rows] for end in ("low", "high"))
        panel.hlines(at, low, high, color=colour, linewidth=1.0)
        label = f"manager {manager}"
        panel.plot([row.rl_behaviour for row in rows], at, "o", color=colour, markersize=3.2, label=label)
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(-0.7, len(names) - 0.3)
    panel.set_xlabel("gain over the logged policy, points")
    panel.set_title(f"learned policy, filled by {FILLS[0]}")
    panel.legend(loc="center right", frameon=False)
