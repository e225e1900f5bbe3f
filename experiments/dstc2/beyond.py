"""What metrics tell on DSTC2 beyond the logged return."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.beyond import rows_beyond, with_logged
from experiments.dstc2.cells import TARGET
from experiments.dstc2.relations import LOGGED, bare, is_headline
from extrinsic.correlation.estimate import correlation_estimate
from extrinsic.correlation.resampling import Sample, draw_trackers
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.correlating.panel import Panel
from extrinsic.study.finished_run import Run


def beyond_rows(run: Run, panels: dict[str, Panel]) -> list[dict[str, Any]]:
    """Of the core trackers, every headline metric."""
    core = {row.tracker for row in run.table("trackers") if row.core}
    settings = read_study(run.folder / "config.toml")
    table = settings.correlation
    rows = []
    for fill, every in panels.items():
        panel = every.take_trackers(np.flatnonzero([name in core for name in every.trackers]))
        places = [m for m, name in enumerate(panel.metrics) if is_headline(name)]
        sample = panel.sample
        learned, logged = (panel.targets.index(name) for name in (TARGET, LOGGED))
        observed = with_logged(sample.metrics[places], sample.targets[learned], sample.targets[logged])
        drawn = with_logged(
            sample.metrics_drawn[:, places], sample.targets_drawn[:, learned], sample.targets_drawn[:, logged]
        )
        trackers = draw_trackers(panel.identity, len(panel.trackers), table.resamples, settings.seed)
        correlations = correlation_estimate(Sample(*observed, *drawn), "pearson", "within", "both", trackers)
        names = [panel.metrics[m] for m in places]
        labels = [{"fill": fill, "metric": f"{bare(name[0])}@{name[1]}"} for name in names]
        rows += rows_beyond(correlations, labels, table.level)
    return rows
