"""Lee's figures 2 and 3 in their own form, with what he could not show: live returns, and uncertainty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import begin, plt, save
from experiments.lee2014.findings import ACCURACY
from experiments.lee2014.points import Condition, Points
from experiments.lee2014.policies import trackers_by_return
from experiments.lee2014.tables import FILLS, Correlation, without_fill
from experiments.selection import Selection
from extrinsic.study.naming import family_of

LEFT_OUT = "last_turn"
"""So far below all others that they could not be distinguished beside it; its return is in the title."""

TITLES = {"live": "played live", "lstd": "by LSTD on the test half, as Lee"}
POLICIES = {
    "rl": ("#0072B2", "o", "RL"),
    "sl": ("#D55E00", "s", "SL"),
    "sl_sampled": ("#CC79A7", "^", "SL, sampled"),
    "behaviour": ("#444444", "_", "behaviour (observed)"),
}


def draw_policies(points: Points, path: Path) -> None:
    """A row for each fill rule; trackers in the order of the live return of RL; bars: range over seeds."""
    begin(8.0)
    figure, panels = plt.subplots(len(FILLS), 2, figsize=(11.0, 8.0), sharey="row", sharex="row")
    for i, fill in enumerate(FILLS):
        order = _shown_trackers(points, fill)
        for j, target in enumerate(TITLES):
            right = _draw_returns(panels[i, j], points, Condition(fill, target), order, (i, j) == (0, 0))
            panels[i, j].set_title(f"{fill}, {TITLES[target]}{panels[i, j].get_title()}")
            if j == len(TITLES) - 1:
                right.set_ylabel("accuracy, all slots, schedule 3")
            else:
                right.set_yticklabels([])
        panels[i, 0].set_ylabel("return, mean over datasets and seeds")
    save(figure, path)


def draw_datasets(points: Points, path: Path) -> None:
    """A panel for each dataset, as Lee has them: the first fill rule, played live."""
    begin(8.0)
    figure, panels = plt.subplots(2, 2, figsize=(11.0, 8.0), sharex=True)
    condition, order = Condition(FILLS[0], "live"), _shown_trackers(points, FILLS[0])
    for panel, dataset in zip(panels.ravel(), points.datasets, strict=True):
        right = _draw_returns(panel, points.on_dataset(dataset), condition, order, panel is panels[0, 0])
        panel.set_title(f"{dataset}, {FILLS[0]}, {TITLES['live']}{panel.get_title()}")
        if panel in panels[:, 1]:
            right.set_ylabel("accuracy, all slots, schedule 3")
    for panel in panels[:, 0]:
        panel.set_ylabel("return, mean over seeds")
    save(figure, path)


def _shown_trackers(points: Points, fill: str) -> list[int]:
    """Indices of the trackers, the best by live return first."""
    order, _ = trackers_by_return(points, Condition(fill, "live"))
    return [points.trackers.index(tracker) for tracker in order if tracker != LEFT_OUT]


def _draw_returns(
    panel: Any, points: Points, condition: Condition, order: list[int], with_legend: bool
) -> Any:
    """Policies of every tracker, and accuracy on an axis of its own, which is returned.

    The title says how far below is the tracker that is left out.
    """
    places = np.arange(len(order))
    for policy, (colour, marker, label) in POLICIES.items():
        by_seed = points.earned(condition, policy).mean(axis=1)[:, order]
        mean = by_seed.mean(axis=0)
        panel.errorbar(
            places,
            mean,
            [mean - by_seed.min(axis=0), by_seed.max(axis=0) - mean],
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.0,
            elinewidth=0.7,
            label=label,
        )
    right = panel.twinx()
    right.plot(
        places,
        points.metric(ACCURACY).mean(axis=(0, 1))[order],
        ":",
        color="#009E73",
        marker="d",
        markersize=3,
        linewidth=0.9,
        label="accuracy at the end (right)",
    )
    right.set_ylim(0.5, 1.0)
    panel.set_xticks(places, [points.trackers[i] for i in order], rotation=90)
    left_out = points.earned(condition, "rl")[..., points.trackers.index(LEFT_OUT)].mean()
    panel.set_title(f"; {LEFT_OUT}: {left_out:.0f}")
    panel.tick_params(axis="x", length=0)
    if with_legend:
        lines = [*panel.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
        panel.legend(lines, [line.get_label() for line in lines], loc="lower left", frameon=False)
    return right


def draw_correlations(correlations: Selection[Correlation], path: Path) -> None:
    """A panel for each fill rule and target; a line for each metric and schedule, in order of r."""
    begin(8.0)
    figure, panels = plt.subplots(len(FILLS), len(TITLES), figsize=(9.5, 13.5), sharex=True)
    for i, fill in enumerate(FILLS):
        for j, target in enumerate(TITLES):
            rows = [row for row in correlations.where(fill=fill, target=target).rows if row.r is not None]
            _draw_panel(panels[i, j], rows)
            panels[i, j].set_title(f"{fill}, RL {TITLES[target]}", fontsize=8)
    figure.supxlabel(
        "r with the return of RL within datasets: dot, mean over seeds; dark line, range over seeds;\n"
        "pale bar, 95 % over trackers; hollow, the same metric of the joint goal",
        fontsize=8,
    )
    save(figure, path)


def _draw_panel(panel: Any, rows: list[Correlation]) -> None:
    """Pale: 95 % over trackers; dark: the range over seeds; dot: the mean over seeds."""
    lines = Selection([row for row in rows if row.component != "joint"])
    places = np.arange(len(lines.rows))[::-1]
    colours = [family_of(row.metric).colour for row in lines.rows]
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    panel.hlines(places, lines.column("low"), lines.column("high"), colors=colours, linewidth=4.0, alpha=0.25)
    panel.hlines(
        places, lines.column("lowest_seed"), lines.column("highest_seed"), colors=colours, linewidth=1.2
    )
    panel.scatter(lines.column("r"), places, c=colours, s=9, zorder=3)
    joint = {(row.metric, row.schedule): row.r for row in rows if row.component == "joint"}
    beside = [
        (joint[row.metric, row.schedule], place)
        for row, place in zip(lines.rows, places, strict=True)
        if (row.metric, row.schedule) in joint
    ]
    hollow = {"facecolors": "none", "edgecolors": "#333333", "linewidths": 0.6}
    panel.scatter(*zip(*beside, strict=True), s=11, zorder=4, **hollow)
    panel.set_yticks(places, [_label(row) for row in lines.rows], fontsize=6)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(-1, len(places))
    panel.set_xlim(-1.0, 1.0)


def _label(row: Correlation) -> str:
    """`l2 · 3` of Lee's metrics; those of state sets, on schedule 1 only, by their name."""
    return without_fill(row.metric) if row.component == "state" else f"{row.metric} · {row.schedule}"
