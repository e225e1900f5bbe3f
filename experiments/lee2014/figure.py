"""Lee's figures 2 and 3 in their own form, with what he could not show: live returns, and uncertainty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import begin, plt, save
from experiments.lee2014.judging import Where
from experiments.lee2014.points import Points
from experiments.lee2014.policies import tracker_means
from experiments.lee2014.runs import FILLS
from extrinsic.report.results.naming import family_of

Rows = list[dict[str, Any]]

LEFT_OUT = "last_turn"
"""So far below all others that they could not be told apart beside it; its return stands in the title."""

SHOWN = ("live", "lstd")
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
        order = _by_live_return(points, fill)
        for j, estimator in enumerate(SHOWN):
            right = _draw_returns(panels[i, j], points, Where(fill, estimator), order, (i, j) == (0, 0))
            panels[i, j].set_title(f"{fill}, {TITLES[estimator]}{panels[i, j].get_title()}")
            if j == len(SHOWN) - 1:
                right.set_ylabel("accuracy, all slots, schedule 3")
            else:
                right.set_yticklabels([])
        panels[i, 0].set_ylabel("return, mean over datasets and seeds")
    save(figure, path)


def draw_datasets(points: Points, path: Path) -> None:
    """A panel for each dataset, as Lee has them: the first fill rule, played live."""
    begin(8.0)
    figure, panels = plt.subplots(2, 2, figsize=(11.0, 8.0), sharex=True)
    order = _by_live_return(points, FILLS[0])
    for panel, dataset in zip(panels.ravel(), points.datasets, strict=True):
        where = Where(FILLS[0], SHOWN[0])
        right = _draw_returns(panel, points.of_dataset(dataset), where, order, panel is panels[0, 0])
        panel.set_title(f"{dataset}, {FILLS[0]}, {TITLES[SHOWN[0]]}{panel.get_title()}")
        if panel in panels[:, 1]:
            right.set_ylabel("accuracy, all slots, schedule 3")
    for panel in panels[:, 0]:
        panel.set_ylabel("return, mean over seeds")
    save(figure, path)


def _by_live_return(points: Points, fill: str) -> list[str]:
    """The trackers shown, the best first."""
    live = {row["tracker"]: row["rl"] for row in tracker_means(points, Where(fill, "live"))}
    return sorted((name for name in live if name != LEFT_OUT), key=lambda name: -live[name])


def _draw_returns(panel: Any, points: Points, where: Where, order: list[str], with_legend: bool) -> Any:
    """Policies of every tracker, and accuracy on an axis of its own, which is returned.

    The title tells how far below is the tracker that is left out.
    """
    means = {row["tracker"]: row for row in tracker_means(points, where)}
    rows, places = [means[name] for name in order], np.arange(len(order))
    for policy, (colour, marker, label) in POLICIES.items():
        mean = np.array([row[policy] for row in rows])
        reach = [
            mean - [row[f"{policy}_low"] for row in rows],
            [row[f"{policy}_high"] for row in rows] - mean,
        ]
        panel.errorbar(
            places,
            mean,
            reach,
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
        [row["accuracy"] for row in rows],
        ":",
        color="#009E73",
        marker="d",
        markersize=3,
        linewidth=0.9,
        label="accuracy at the end (right)",
    )
    right.set_ylim(0.5, 1.0)
    panel.set_xticks(places, order, rotation=90)
    panel.set_title(f"; {LEFT_OUT}: {means[LEFT_OUT]['rl']:.0f}" if LEFT_OUT in means else "")
    panel.tick_params(axis="x", length=0)
    if with_legend:
        lines = [*panel.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
        panel.legend(lines, [line.get_label() for line in lines], loc="lower left", frameon=False)
    return right


def draw_correlations(rows: Rows, path: Path) -> None:
    """A panel for each fill rule and target; a line for each metric and schedule, in order of r."""
    begin(8.0)
    figure, panels = plt.subplots(len(FILLS), len(SHOWN), figsize=(9.5, 13.5), sharex=True)
    for i, fill in enumerate(FILLS):
        for j, target in enumerate(SHOWN):
            of = [row for row in rows if (row["fill"], row["target"]) == (fill, target)]
            joint = {(row["metric"], row["schedule"]): row["r"] for row in of if row["component"] == "joint"}
            _draw_panel(panels[i, j], [row for row in of if row["component"] != "joint"], joint)
            panels[i, j].set_title(f"{fill}, RL {TITLES[target]}", fontsize=8)
    figure.supxlabel(
        "r with the return of RL within datasets: dot, mean over seeds; dark line, range over seeds;\n"
        "pale bar, 95 % over trackers; hollow, the same metric of the joint goal",
        fontsize=8,
    )
    save(figure, path)


def _draw_panel(panel: Any, rows: Rows, joint: dict[tuple[str, int], float | None]) -> None:
    """Pale: 95 % over trackers; dark: the range over seeds; dot: the mean over seeds."""
    known = [row for row in rows if row["r"] is not None]
    places = np.arange(len(known))[::-1]
    colours = [family_of(row["metric"]).colour for row in known]
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    panel.hlines(
        places,
        [row["low"] for row in known],
        [row["high"] for row in known],
        colors=colours,
        linewidth=4.0,
        alpha=0.25,
    )
    panel.hlines(
        places,
        [row["lowest_seed"] for row in known],
        [row["highest_seed"] for row in known],
        colors=colours,
        linewidth=1.2,
    )
    panel.scatter([row["r"] for row in known], places, c=colours, s=9, zorder=3)
    beside = [joint.get((row["metric"], row["schedule"])) for row in known]
    there = [place for place, r in zip(places, beside, strict=True) if r is not None]
    panel.scatter(
        [r for r in beside if r is not None],
        there,
        s=11,
        facecolors="none",
        edgecolors="#333333",
        linewidths=0.6,
        zorder=4,
    )
    panel.set_yticks(places, [label_of(row) for row in known], fontsize=6)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(-1, len(known))
    panel.set_xlim(-1.0, 1.0)


def label_of(row: dict[str, Any]) -> str:
    """`L2 3` of Lee's metrics; those of state sets, on schedule 1 only, by their name."""
    base = row["metric"].replace("fill=argmax", "").replace("fill=threshold", "")
    name = base.replace("()", "").replace(", )", ")")
    return name if row["component"] == "state" else f"{name} · {row['schedule']}"
