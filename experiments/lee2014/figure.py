"""Lee's figures 2 and 3, with what he could not show: live play, a fixed policy, callers, best sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import begin, plt, save
from experiments.lee2014.study import Points
from experiments.lee2014.tables import FILLS, LEE, STATES, TARGETS, Correlation, without_fill
from experiments.selection import Selection

POLICIES = {
    "rl": ("#0072B2", "o", "learned"),
    "expert": ("#D55E00", "s", "fixed expert"),
    "sl": ("#CC79A7", "^", "imitated"),
    "behaviour": ("#444444", "_", "logged"),
}
VALUES = {"live": "return", "completed": "callers served, %"}
LOWEST = -150.0
"""Where the axis of returns ends."""

SHOWN = ("rl.live", "expert.live")
"""The targets of figure 3."""


def draw_policies(points: Points, path: Path) -> None:
    """Returns above, callers served below; trackers in the order of the learned policy's return.

    Bars: the range over seeds. Returns of the last tracker are far below all others, and only in the title.
    """
    begin(8.0)
    figure, panels = plt.subplots(2, len(FILLS), figsize=(11.0, 7.0), sharey="row", sharex="col")
    for column, fill in enumerate(FILLS):
        order = np.argsort(-points.returns[fill, "rl.live"].mean(axis=(0, 1)), kind="stable")
        for row, (estimator, label) in enumerate(VALUES.items()):
            panel = panels[row, column]
            for policy, (colour, marker, name) in POLICIES.items():
                if (fill, f"{policy}.{estimator}") in points.returns:
                    values = points.returns[fill, f"{policy}.{estimator}"].mean(axis=1)[:, order]
                    mean = values.mean(axis=0)
                    ends = [mean - values.min(axis=0), values.max(axis=0) - mean]
                    style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.0}
                    panel.errorbar(range(len(order)), mean, ends, elinewidth=0.7, label=name, **style)
            panel.set_title(f"{fill}: {label}, mean over datasets and seeds")
            panel.set_xticks(range(len(order)), [points.trackers[i] for i in order], rotation=90)
        last = points.returns[fill, "rl.live"][..., order[-1]].mean()
        title = f"{fill}: return; learned on {points.trackers[order[-1]]}: {last:.0f}"
        panels[0, column].set_title(title)
    panels[0, 0].set_ylim(bottom=LOWEST)
    panels[0, 0].legend(loc="lower left", frameon=False)
    save(figure, path)


def draw_correlations(rows: Selection[Correlation], path: Path) -> None:
    """A heat map for each fill rule and target, core trackers: metrics by schedules, bold in the best set."""
    begin(7.0)
    lines = [(metric, part) for part in ("joint", "all") for metric in (*LEE, "brier")]
    lines += [(metric, "state") for metric in STATES]
    shown = [(fill, target) for fill in FILLS for target in SHOWN]
    figure, panels = plt.subplots(1, len(shown), figsize=(11.0, 8.5), sharey=True)
    for panel, (fill, target) in zip(panels, shown, strict=True):
        _draw_heat(panel, rows.where(fill=fill, target=target, trackers="core"), lines)
        panel.set_title(f"{fill}:\n{TARGETS[target]}", fontsize=8)
        panel.set_xlabel("schedule")
    panels[0].set_yticks(range(len(lines)), [" · ".join(line) for line in lines])
    save(figure, path)


def _draw_heat(panel: Any, rows: Selection[Correlation], lines: list[tuple[str, str]]) -> None:
    heat = np.full((len(lines), 3), np.nan)
    for row in rows.rows:
        if row.r is not None:
            place = lines.index((without_fill(row.metric), row.component)), row.schedule - 1
            heat[place] = row.r
            style = {"fontweight": "bold"} if row.in_set else {"color": "#555555"}
            panel.text(place[1], place[0], f"{row.r:.2f}", ha="center", va="center", **style)
    panel.imshow(heat, cmap="RdBu", vmin=-1.3, vmax=1.3, aspect="auto")
    panel.set_xticks(range(3), ["1", "2", "3"])
    panel.tick_params(length=0)
