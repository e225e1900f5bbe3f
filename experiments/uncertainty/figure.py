"""Coverage against the number of trackers: a row for each population, a column for each correlation."""

from __future__ import annotations

from pathlib import Path

from experiments.figures import begin, plt, save
from experiments.selection import Selection
from experiments.uncertainty.tables import Coverage

SHOWN = {
    ("both", "percentile"): ("#0072B2", "-", "before: both, percentile"),
    ("closed form", "jackknife"): ("#009E73", "--", "jackknife of atanh r"),
    ("jackknife", "noise removed"): ("#D55E00", "-", "now: noise removed"),
}
LEVEL, LOWEST = 0.95, 0.5


def draw(coverage: Selection[Coverage], path: Path) -> None:
    """What lies below LOWEST is drawn there."""
    begin()
    populations, correlations, sizes = map(coverage.distinct, ("population", "r", "n_trackers"))
    figure, panels = plt.subplots(
        len(populations), len(correlations), figsize=(9.0, 9.5), sharex=True, sharey=True, squeeze=False
    )
    for i, population in enumerate(populations):
        for j, r in enumerate(correlations):
            panel = panels[i, j]
            panel.axhline(LEVEL, color="#888888", linewidth=0.8)
            cells = coverage.where(population=population, r=r)
            for (way, method), (colour, line, label) in SHOWN.items():
                shares = [
                    max(each, LOWEST) for each in cells.where(way=way, method=method).column("coverage")
                ]
                panel.plot(sizes, shares, line, color=colour, marker="o", markersize=3, label=label)
            panel.set_title(f"{population}, correlation {cells.rows[0].truth:.2f}")
            panel.set_ylim(LOWEST, 1.0)
            panel.set_xticks(sorted(sizes))
    panels[0, 0].legend(loc="lower right", frameon=False, fontsize=7)
    figure.supxlabel("trackers")
    figure.supylabel("coverage of intervals that claim 95 %")
    save(figure, path)
