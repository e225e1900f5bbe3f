"""Metrics in order of their r with success, core trackers: over trackers, in the same dialog; both golds."""

from __future__ import annotations

from pathlib import Path

from experiments.figures import begin, plt, save
from experiments.multiwoz.tables import Swap
from experiments.selection import Selection

GOLDS = {"2.1": ("#0072B2", "o"), "2.4": ("#D55E00", "s")}
LEVELS = {"tracker": "over trackers, within generator", "dialog": "in the same dialog"}
APART = 0.17
"""Of the lines of one metric."""


def draw(swap: Selection[Swap], path: Path) -> None:
    begin()
    chosen = swap.where(generator="all", trackers="core", target="outcome.success").rows
    rows = {(row.gold, row.level, row.metric): row for row in chosen if row.r is not None}
    first = [row for row in rows.values() if (row.gold, row.level) == ("2.1", "tracker")]
    names = [row.metric for row in sorted(first, key=lambda row: row.r or 0.0)]
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 4.6), sharey=True)
    for panel, (level, title) in zip(panels, LEVELS.items(), strict=True):
        panel.axvline(0.0, color="#888888", linewidth=0.8)
        for number, (gold, (colour, marker)) in enumerate(GOLDS.items()):
            shown = [rows[gold, level, name] for name in names]
            heights = [height + APART * (1 - 2 * number) for height in range(len(names))]
            lengths = [
                [abs((end or 0.0) - (row.r or 0.0)) for row in shown for end in (getattr(row, side),)]
                for side in ("low", "high")
            ]
            style = {"color": colour, "markersize": 4, "linewidth": 1.0, "label": f"gold {gold}"}
            panel.errorbar([row.r for row in shown], heights, xerr=lengths, fmt=marker, **style)
        panel.set_title(title)
        panel.set_xlabel("Pearson's r with success, 95 % interval")
    panels[0].set_yticks(range(len(names)), names)
    panels[1].legend(loc="upper left", frameon=False)
    save(figure, path)
