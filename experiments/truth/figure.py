"""Estimates against live returns, one panel an estimator."""

from __future__ import annotations

from pathlib import Path

from experiments.figures import begin, plt, save
from experiments.selection import Selection
from experiments.truth.tables import PolicyEstimate

SHOWN = ("observed", "lstd", "fqe_augmented", "lstd_augmented", "mean_augmented", "ceiling")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")


def draw(estimates: Selection[PolicyEstimate], path: Path) -> None:
    """A panel for each of the estimators shown; a colour for each dataset; hollow: degenerate trackers."""
    begin()
    figure, panels = plt.subplots(2, 3, figsize=(9.5, 6.4), sharex=True, sharey=True)
    # LSTD's optimism has to fit in.
    highest = max(estimates.highest("live"), estimates.where(estimator="lstd").highest("value"))
    bounds = (estimates.lowest("live") - 40, highest + 20)
    for panel, estimator in zip(panels.ravel(), SHOWN, strict=True):
        panel.plot(bounds, bounds, color="#888888", linewidth=0.8)
        for dataset, colour in zip(sorted(estimates.distinct("dataset")), COLOURS, strict=False):
            for degenerate in (False, True):
                points = estimates.where(estimator=estimator, dataset=dataset, degenerate=degenerate)
                panel.scatter(
                    points.column("live"),
                    points.column("value"),
                    s=14,
                    edgecolors=colour,
                    facecolors="none" if degenerate else colour,
                    linewidths=0.8,
                    label=None if degenerate else dataset,
                    rasterized=True,  # thousands of points
                )
        panel.set(title=estimator, xlim=bounds, ylim=bounds)
    panels[0, 0].legend(loc="upper left", frameon=False)
    figure.supxlabel("live return")
    figure.supylabel("estimate")
    save(figure, path)
