"""Estimates against live returns, one panel an estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import begin, plt, save

SHOWN = ("observed", "lstd", "lstd_augmented", "fqe_augmented", "mean_augmented", "wdr")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """A panel for each of the estimators shown; a colour for each dataset; hollow: degenerate trackers."""
    begin()
    figure, panels = plt.subplots(2, 3, figsize=(9.5, 6.4), sharex=True, sharey=True)
    datasets = sorted({row["dataset"] for row in rows})
    live = np.array([row["live"] for row in rows])
    # LSTD's optimism has to fit in; the wildest of the weighted estimates need not.
    highest = max(row["value"] for row in rows if row["estimator"] == "lstd")
    bounds = (live.min() - 40, max(live.max(), highest) + 20)
    for panel, name in zip(panels.ravel(), SHOWN, strict=True):
        panel.plot(bounds, bounds, color="#888888", linewidth=0.8)
        for dataset, colour in zip(datasets, COLOURS, strict=False):
            of = [row for row in rows if row["estimator"] == name and row["dataset"] == dataset]
            for degenerate in (False, True):
                chosen = [row for row in of if row["degenerate"] == degenerate]
                panel.scatter(
                    [row["live"] for row in chosen],
                    [row["value"] for row in chosen],
                    s=14,
                    edgecolors=colour,
                    facecolors="none" if degenerate else colour,
                    linewidths=0.8,
                    label=None if degenerate else dataset,
                )
        panel.set_title(name)
        panel.set_xlim(bounds)
        panel.set_ylim(bounds)
    panels[0, 0].legend(loc="upper left", frameon=False)
    figure.supxlabel("live return")
    figure.supylabel("estimate")
    save(figure, path)
