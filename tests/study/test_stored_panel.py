"""The arrays of a run are those that its tables were made of."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.study.run import Run
from extrinsic.study.stored_panel import stored_panel
from extrinsic.verdict.coefficients import correlate
from tests.study.studies import DATASETS, TRACKERS, Study


def test_correlations_again(tiny: Study) -> None:
    run = Run(tiny.folder)
    target = run.table("correlations")[0].target
    panel = stored_panel(run, "fill=argmax", (target,))
    assert (panel.datasets, panel.trackers) == (tuple(DATASETS), tuple(TRACKERS))
    r = correlate(panel.sample.metrics, panel.sample.targets, "pearson", "within")
    rows = {
        (row.metric, row.schedule, row.component, row.label_scheme): row
        for row in run.table("correlations")
        if (row.target, row.scope, row.coefficient) == (target, "within", "pearson")
        and (row.trackers, row.variant) == ("all", "fill=argmax")
    }
    compared = 0
    for m, name in enumerate(panel.metrics):
        row = rows[name]
        if row.r is not None:
            assert r[m, 0] == pytest.approx(row.r, abs=1e-12)
            compared += 1
    assert compared > 10


def test_all_targets_of_the_run(tiny: Study) -> None:
    run = Run(tiny.folder)
    panel = stored_panel(run, "fill=argmax")
    assert set(panel.targets) == {row.target for row in run.table("correlations")}
    assert not np.isnan(panel.sample.targets).any()
