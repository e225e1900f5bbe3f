"""Metrics in order of their r with success within a system: dialogs as points, and systems as points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.figures import begin, plt, save

PANELS = {
    "points are dialogs": {
        "within": ("#0072B2", "o", "within a system"),
        "both": ("#D55E00", "s", "systems and dialogs centred"),
    },
    "points are the 13 systems": {"between": ("#009E73", "D", "between systems")},
}
APART = 0.17
"""Of the lines of one metric."""


def draw(splits: list[dict[str, Any]], path: Path) -> None:
    begin()
    of = {(row["split"], row["metric"]): row for row in splits if row["outcome"] == "success"}
    names = list(dict.fromkeys(name for _, name in of))
    names = sorted(names, key=lambda name: -of["within", name]["r"])[::-1]
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 5.2), sharey=True, width_ratios=(3, 2))
    for panel, (title, shown) in zip(panels, PANELS.items(), strict=True):
        panel.axvline(0.0, color="#888888", linewidth=0.8)
        for number, (split, (colour, marker, label)) in enumerate(shown.items()):
            rows = [of[split, name] for name in names]
            r = [row["r"] for row in rows]
            ends = [[row["r"] - row["low"] for row in rows], [row["high"] - row["r"] for row in rows]]
            at = [place + APART * (len(shown) - 1 - 2 * number) for place in range(len(names))]
            panel.errorbar(
                r, at, xerr=ends, fmt=marker, color=colour, markersize=4, linewidth=1.0, label=label
            )
        panel.set_title(title)
        panel.set_xlabel("Pearson's r with success, 95 % interval")
        panel.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False, fontsize=8, ncols=len(shown)
        )
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_xlim(left=-0.02)
    panels[1].set_xlim(-1.0, 1.0)
    save(figure, path)
