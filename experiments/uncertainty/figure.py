"""Coverage against the number of trackers: a row for each population, a column for each correlation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.figures import begin, plt, save

SHOWN = {
    ("both", "percentile"): ("#0072B2", "-", "both, percentile"),
    ("both", "bca"): ("#0072B2", "--", "both, bca"),
    ("trackers", "percentile"): ("#D55E00", "-", "trackers, percentile"),
    ("trackers", "bca"): ("#D55E00", "--", "trackers, bca"),
    ("closed form", "jackknife"): ("#009E73", "-", "jackknife of atanh r"),
    ("closed form", "fisher, points"): ("#CC79A7", ":", "Fisher, all points"),
}
LEVEL, LOWEST = 0.95, 0.5


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """What resampled dialogs alone give lies far below and is left to the table."""
    begin()
    populations, correlations = (list(dict.fromkeys(row[key] for row in rows)) for key in ("population", "r"))
    figure, panels = plt.subplots(
        len(populations), len(correlations), figsize=(9.0, 9.5), sharex=True, sharey=True, squeeze=False
    )
    for i, population in enumerate(populations):
        for j, r in enumerate(correlations):
            panel = panels[i, j]
            panel.axhline(LEVEL, color="#888888", linewidth=0.8)
            of = [row for row in rows if (row["population"], row["r"]) == (population, r)]
            for key, (colour, line, label) in SHOWN.items():
                chosen = [row for row in of if (row["way"], row["method"]) == key]
                sizes = [row["n_trackers"] for row in chosen]
                held = [max(row["coverage"], LOWEST) for row in chosen]
                panel.plot(sizes, held, line, color=colour, marker="o", markersize=3, label=label)
            panel.set_title(f"{population}, correlation {of[0]['truth']:.2f}")
            panel.set_ylim(LOWEST, 1.0)
            panel.set_xticks(sorted({row["n_trackers"] for row in of}))
    panels[0, 0].legend(loc="lower right", frameon=False, fontsize=7)
    figure.supxlabel("trackers")
    figure.supylabel("coverage of intervals that claim 95 %")
    save(figure, path)
