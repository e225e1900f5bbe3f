"""What metrics tell on DSTC2 beyond the logged return."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.beyond import rows_beyond, with_logged
from experiments.dstc2.candidates import FILLS
from experiments.dstc2.cells import TARGET
from experiments.dstc2.relations import bare, is_headline
from experiments.statistic import Statistic
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.influence import without_each
from extrinsic.correlation.resampling import Sample, draw_trackers, resampled_correlations
from extrinsic.study.reading import read_study
from extrinsic.study.run import Run
from extrinsic.study.stored_panel import stored_panel

LOGGED = "behaviour.observed"


def beyond_rows(run: Run) -> list[dict[str, Any]]:
    """Of the core trackers, every headline metric."""
    core = {row["tracker"] for row in run.table("trackers") if row["core"]}
    settings = read_study(run.folder / "config.toml")
    table = settings.correlation
    rows = []
    for fill in FILLS:
        panel = stored_panel(run, f"fill={fill}", (TARGET, LOGGED))
        panel = panel.take_trackers(np.flatnonzero([name in core for name in panel.trackers]))
        places = [m for m, name in enumerate(panel.metrics) if is_headline(name)]
        sample = panel.sample
        observed = with_logged(sample.metrics[places], *sample.targets)
        drawn = with_logged(sample.metrics_drawn[:, places], *sample.targets_drawn.swapaxes(0, 1))
        trackers = draw_trackers(panel.identity, len(panel.trackers), table.resamples, settings.seed)
        found = Statistic(
            correlate(*observed, "pearson", "within"),
            resampled_correlations(Sample(*observed, *drawn), "pearson", "within", "both", trackers),
            without_each(*observed, "pearson", "within"),
        )
        names = [panel.metrics[m] for m in places]
        labels = [{"fill": fill, "metric": f"{bare(name[0])}@{name[1]}"} for name in names]
        rows += rows_beyond(found, labels, table.level)
    return rows
