"""Metrics in order of their r with success within a system: dialogs as points, and systems as points."""

from __future__ import annotations

from pathlib import Path

from experiments.figures import begin, plt, save
from experiments.multiwoz.tables import DialogCorrelation
from experiments.selection import Selection

PANELS = {
    "points are dialogs": {
        "within": ("#0072B2", "o", "within a system"),
        "both": ("#D55E00", "s", "systems and dialogs centred"),
    },
    "points are the 13 systems": {"between": ("#009E73", "D", "between systems")},
}
APART = 0.17
"""Of the lines of one metric."""


def draw(splits: Selection[DialogCorrelation], path: Path) -> None:
    begin()
    rows = {(row.split, row.metric): row for row in splits.where(outcome="success").rows}
    names = sorted(splits.distinct("metric"), key=lambda name: -rows["within", name].r)[::-1]
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 5.2), sharey=True, width_ratios=(3, 2))
    for panel, (title, lines) in zip(panels, PANELS.items(), strict=True):
        panel.axvline(0.0, color="#888888", linewidth=0.8)
        for number, (split, (colour, marker, label)) in enumerate(lines.items()):
            shown = [rows[split, name] for name in names]
            ends = [[row.r - row.low for row in shown], [row.high - row.r for row in shown]]
            heights = [height + APART * (len(lines) - 1 - 2 * number) for height in range(len(names))]
            style = {"fmt": marker, "color": colour, "markersize": 4, "linewidth": 1.0, "label": label}
            panel.errorbar([row.r for row in shown], heights, xerr=ends, **style)
        panel.set_title(title)
        panel.set_xlabel("Pearson's r with success, 95 % interval")
        legend = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.13), "ncols": len(lines)}
        panel.legend(**legend, frameon=False, fontsize=8)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_xlim(left=-0.02)
    panels[1].set_xlim(-1.0, 1.0)
    save(figure, path)
