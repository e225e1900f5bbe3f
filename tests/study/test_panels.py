"""The panel of a run has what its tables have, to the last digit, of every kind of study."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.panel import FILE, Panel
from extrinsic.study.run import Run
from tests.study.studies import Study


@pytest.fixture(scope="module")
def tiny_run(tiny: Study) -> Run:
    return Run(tiny.folder)


def test_scores_and_counts_are_those_of_the_table(tiny_run: Run) -> None:
    panel, rows = tiny_run.panel, tiny_run.table("intrinsic")
    keys = {(m.metric, m.schedule, m.component, m.label_scheme): i for i, m in enumerate(panel.metrics)}
    datasets = [dataset.name for dataset in panel.datasets]
    for row in rows:
        place = (
            keys[row.metric, row.schedule, row.component, row.label_scheme],
            datasets.index(row.dataset),
            panel.system(row.tracker),
        )
        assert panel.counts[place] == row.n
        assert panel.scores[place] == row.value or (row.value is None and np.isnan(panel.scores[place]))
    assert len(rows) == panel.scores.size


def test_values_and_flags_are_those_of_the_table(tiny_run: Run) -> None:
    panel, rows = tiny_run.panel, tiny_run.table("returns")
    places = {(target.name, target.variant): k for k, target in enumerate(panel.targets)}
    flags = {(note.target, note.dataset, note.system): note.flags for note in panel.notes}
    datasets = [dataset.name for dataset in panel.datasets]
    for row in rows:
        k = places[f"{row.policy}.{row.estimator}", row.variant]
        place = k, datasets.index(row.dataset), panel.system(row.tracker)
        assert (panel.values[place], flags.get(place, ())) == (row.value, row.flags)
    assert len(rows) == panel.values.size
    assert {flag for of_value in flags.values() for flag in of_value} <= set(panel.words)


def test_parts_sum_to_scores_and_influence_to_nothing(tiny_run: Run) -> None:
    panel = tiny_run.panel
    sums = [metric.is_sum for metric in panel.metrics]
    for d, dataset in enumerate(panel.datasets):
        assert len(set(dataset.items)) == len(dataset.items) == panel.parts[d].shape[2]
        summed = panel.parts[d][sums].sum(axis=2, dtype=np.float64)
        assert summed == pytest.approx(panel.scores[sums, d], abs=1e-5, nan_ok=True)
        assert np.isnan(panel.parts[d][np.logical_not(sums)]).all()
        for influence in (panel.influence[d], panel.caller_influence[d]):
            assert influence.size and np.abs(influence.sum(axis=2)).max() < 1e-8
        # Metrics that are no sums have draws around their scores.
        drawn = panel.draws[d]
        assert drawn.shape[0] == len(sums) - sum(sums)


def test_the_manifest_records_the_panel(tiny_run: Run) -> None:
    assert FILE in tiny_run.manifest.tables and tiny_run.changed == ()
    assert Panel.from_run(tiny_run.folder).signature == tiny_run.signature
