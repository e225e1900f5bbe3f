"""Estimators against the truth: summaries follow from the estimates, and cells can be computed again."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from experiments.selection import Selection
from experiments.truth.__main__ import BY_DATASET, FOLDER, STUDIES
from experiments.truth.policy_values import Registered, compute_log, estimate_rows, logs
from experiments.truth.summary import dataset_biases, summarise
from experiments.truth.tables import DatasetBias, EstimatorSummary, PolicyEstimate
from extrinsic.study.settings_file import read_study
from extrinsic.tables import read_rows, table_bytes
from extrinsic.typed_files import read_toml

REGISTERED = read_toml(FOLDER / "registered.toml", Registered)
ESTIMATES = {world: read_rows(FOLDER / f"{world}_estimates.csv", PolicyEstimate) for world in STUDIES}


def seeds_of(world: str) -> tuple[int, ...]:
    """Those that were registered, or, until these are run, those that were reported before."""
    runs = [getattr(seeds, world) for seeds in (REGISTERED.seeds, REGISTERED.seen)]
    (seeds,) = (seeds for seeds in runs if seeds[0] == ESTIMATES[world][0].seed)
    return tuple(seeds)


def test_nothing_registered_was_seen() -> None:
    for world in STUDIES:
        new, seen = (set(getattr(seeds, world)) for seeds in (REGISTERED.seeds, REGISTERED.seen))
        assert not new & seen and min(new) >= 100


def test_the_summaries_are_those_of_the_estimates() -> None:
    summaries = [row for rows in ESTIMATES.values() for row in summarise(rows)]
    assert table_bytes(summaries, EstimatorSummary, decimals=3) == (FOLDER / "summary.csv").read_bytes()
    biases = [row for rows in ESTIMATES.values() for row in dataset_biases(rows, BY_DATASET)]
    assert table_bytes(biases, DatasetBias, decimals=3) == (FOLDER / "datasets.csv").read_bytes()


def test_a_summary_by_hand() -> None:
    """Bias, error and correlation of one estimator, from the definition."""
    core = Selection(ESTIMATES["bus"]).where(estimator="mean_augmented", degenerate=False)
    (row,) = Selection(summarise(ESTIMATES["bus"])).where(estimator="mean_augmented").rows
    errors = np.array(core.column("value")) - core.column("live")
    assert (row.bias, row.rmse) == pytest.approx((errors.mean(), np.sqrt(np.mean(errors**2))))
    pairs = []
    for seed, dataset in core.distinct("seed", "dataset"):
        log = core.where(seed=seed, dataset=dataset)
        pairs.append([np.array(log.column(name)) - log.mean(name) for name in ("value", "live")])
    assert row.r_core == pytest.approx(np.corrcoef(np.concatenate(pairs, axis=1))[0, 1])


def test_a_cell_again() -> None:
    """The estimates are those of the table."""
    study = read_study(FOLDER / "config.toml")
    assert study.simulation is not None
    small = msgspec.structs.replace(
        study,
        simulation=msgspec.structs.replace(study.simulation, datasets=("ds4",)),
        trackers=msgspec.structs.replace(study.trackers, built_in=("focus",)),
        value=msgspec.structs.replace(
            study.value, estimators=("lstd", "lstd_augmented", "live"), live_dialogs=400
        ),
    )
    (tasks,) = logs(small, seeds_of("bus")[:1])
    rows = list(estimate_rows("bus", compute_log(*tasks)))
    for row in rows:
        if row.estimator == "ceiling":
            continue
        where = {name: getattr(row, name) for name in ("seed", "dataset", "tracker", "estimator")}
        (stored,) = Selection(ESTIMATES["bus"]).where(**where).rows
        assert (row.value, row.low, row.high) == pytest.approx(
            (stored.value, stored.low, stored.high), abs=1e-3
        )
