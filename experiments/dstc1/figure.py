"""Lee's figures 2 and 3 on real calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.dstc1.run_rows import FILLS
from experiments.dstc1.tables import LEE, Accuracy, Correlation, PolicyValue
from experiments.figures import begin, plt, save
from experiments.selection import Selection
from extrinsic.verdict.names import family_of

POLICIES = {
    "rl": ("#0072B2", "o"),
    "sl": ("#D55E00", "s"),
    "sl_sampled": ("#CC79A7", "^"),
    "logged": ("#444444", "_"),
}
SHOWN = ("mean_augmented", "lstd")
LEFT_OUT = "last_turn"
"""So far below all others that they could not be told apart beside it; its return is in the title."""


def draw_policies(values: Selection[PolicyValue], accuracy: Selection[Accuracy], path: Path) -> None:
    """A row for each fill rule, a column for each estimator; means over both directions."""
    begin(8.0)
    figure, panels = plt.subplots(len(FILLS), len(SHOWN), figsize=(11.0, 8.0), sharex="row")
    for i, fill in enumerate(FILLS):
        rows = values.where(fill=fill)
        first = rows.where(estimator=SHOWN[0])
        order = sorted(first.distinct("tracker"), key=lambda name: -first.where(tracker=name).mean("rl"))
        for j, estimator in enumerate(SHOWN):
            _draw_returns(panels[i, j], rows.where(estimator=estimator), accuracy, order)
            panels[i, j].set_title(f"{fill}, by {estimator}{panels[i, j].get_title()}")
        panels[i, 0].set_ylabel("return, mean over both directions")
    panels[0, 0].legend(loc="lower left", frameon=False)
    save(figure, path)


def _draw_returns(
    panel: Any, values: Selection[PolicyValue], accuracy: Selection[Accuracy], order: list[str]
) -> None:
    shown = [name for name in order if name != LEFT_OUT]
    places = np.arange(len(shown))
    for policy, (colour, marker) in POLICIES.items():
        means = [values.where(tracker=name).mean(policy) for name in shown]
        panel.plot(places, means, marker=marker, color=colour, markersize=4, linewidth=1.0, label=policy)
    right = panel.twinx()
    at_the_end = [accuracy.where(tracker=name).mean("accuracy") for name in shown]
    right.plot(places, at_the_end, "d:", color="#009E73", markersize=3, linewidth=0.9)
    right.set_ylabel("accuracy, all slots, schedule 3 (dotted)")
    panel.set_xticks(places, shown, rotation=90)
    panel.tick_params(axis="x", length=0)
    panel.set_title(f"; {LEFT_OUT}: {values.where(tracker=LEFT_OUT).mean('rl'):.0f}")


def draw_correlations(correlations: Selection[Correlation], path: Path) -> None:
    """A panel for each fill rule and estimator; core trackers; Lee's metrics on every schedule."""
    begin(8.0)
    figure, panels = plt.subplots(len(FILLS), len(SHOWN), figsize=(9.5, 12.0), sharex=True)
    core = correlations.where(trackers="core", metric=list(LEE))
    for i, fill in enumerate(FILLS):
        for j, estimator in enumerate(SHOWN):
            rows = core.where(fill=fill, target=f"rl.{estimator}")
            _draw_lines(panels[i, j], rows)
            panels[i, j].set_title(f"{fill}, RL by {estimator}", fontsize=8)
    figure.supxlabel(
        "r with the return of RL within each direction, core trackers, all slots, with 95 % intervals;\n"
        "hollow: the same metric of the joint goal",
        fontsize=8,
    )
    save(figure, path)


def _draw_lines(panel: Any, rows: Selection[Correlation]) -> None:
    lines = Selection(sorted(rows.where(component="all").rows, key=lambda row: row.r))
    joint = {row.name: row.r for row in rows.where(component="joint").rows}
    places = np.arange(len(lines.rows))
    colours = [family_of(row.metric).colour for row in lines.rows]
    panel.axvline(0.0, color="#888888", linewidth=0.8)
    panel.hlines(places, lines.column("low"), lines.column("high"), colors=colours, linewidth=4.0, alpha=0.3)
    panel.scatter(lines.column("r"), places, c=colours, s=9, zorder=3)
    both = [
        (joint[row.name], place) for row, place in zip(lines.rows, places, strict=True) if row.name in joint
    ]
    hollow = {"facecolors": "none", "edgecolors": "#333333", "linewidths": 0.6}
    panel.scatter(*zip(*both, strict=True), s=11, zorder=4, **hollow)
    panel.set_yticks(places, [f"{row.metric} · {row.schedule}" for row in lines.rows], fontsize=6)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(-1, len(places))
    panel.set_xlim(-1.0, 1.0)
