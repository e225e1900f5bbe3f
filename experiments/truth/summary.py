"""Bias, error, correlation and coverage of estimators over all cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.selection import Selection
from experiments.truth.tables import DatasetBias, EstimatorSummary, PolicyEstimate
from extrinsic.arrays import Floats
from extrinsic.verdict.coefficients import correlate
from extrinsic.verdict.intervals import interval, jackknife_interval

RESAMPLES = 1_000
NUMBERS = ("value", "low", "high", "live", "live_half_width")


def summarise(rows: Sequence[PolicyEstimate]) -> list[EstimatorSummary]:
    """A row for every estimator of a world, the smallest error first; the same trackers in every log."""
    table = Selection(rows)
    estimators, n_logs = table.distinct("estimator"), len(table.distinct("seed", "dataset"))
    columns = [table.where(estimator=estimator) for estimator in estimators]
    core = ~np.array(columns[0].column("degenerate")).reshape(n_logs, -1)[0].astype(bool)
    # (n_estimators, n_logs, n_trackers)
    every = [
        np.array([each.column(name) for each in columns]).reshape(len(columns), n_logs, -1)
        for name in NUMBERS
    ]
    value, low, high, live, half_width = (numbers[..., core] for numbers in every)
    errors = value - live
    # The live return is itself a mean over callers: intervals are widened by its noise.
    room = np.hypot(np.where(errors < 0.0, high - value, value - low), half_width)
    drawn = np.random.default_rng(0).integers(0, n_logs, (RESAMPLES, n_logs))
    values_drawn, live_drawn = (np.moveaxis(numbers[:, drawn], 0, 1) for numbers in (value, live[:1]))
    r_core = correlate(value, live[:1], "pearson", "within")[:, 0]
    r_drawn = correlate(values_drawn, live_drawn, "pearson", "within")[..., 0]
    held = (np.abs(errors) <= room).mean(axis=2)
    coverage, covered_drawn = held.mean(axis=1), held[:, drawn].mean(axis=2).T
    reference = estimators.index("observed") if "observed" in estimators else 0
    above, above_drawn = r_core - r_core[reference], r_drawn - r_drawn[:, [reference]]
    measures = [
        errors.mean(axis=(1, 2)),
        np.sqrt((errors**2).mean(axis=(1, 2))),
        correlate(every[0], every[3][:1], "pearson", "within")[:, 0],
        *(r_core, *interval(r_core, r_drawn)),
        *(above, *interval(above, above_drawn)),
        *(coverage, *interval(coverage, covered_drawn)),
    ]
    world = rows[0].world
    summaries = []
    for number, (name, each) in enumerate(zip(estimators, columns, strict=True)):
        numbers = [float(measure[number]) for measure in measures]
        flagged = sum(bool(row.flags) for row in each.rows)
        row = (world, name, n_logs, errors[0].size, *numbers, flagged)
        summaries.append(EstimatorSummary(*row))
    return sorted(summaries, key=lambda row: row.rmse)


def dataset_biases(rows: Sequence[PolicyEstimate], estimators: Sequence[str]) -> list[DatasetBias]:
    """The bias by dataset, with an interval over its logs."""
    table = Selection(rows).where(degenerate=False)
    biases = []
    for dataset in table.distinct("dataset"):
        for estimator in estimators:
            cells = table.where(dataset=dataset, estimator=estimator)
            seeds = cells.distinct("seed")
            logs = [cells.where(seed=seed) for seed in seeds]
            value, live = (np.array([log.column(name) for log in logs]) for name in ("value", "live"))
            bias, low, high = _mean_with_interval((value - live).mean(axis=1))
            r = float(correlate(value[None], live[None], "pearson", "within")[0, 0])
            rmse = float(np.sqrt(np.mean((value - live) ** 2)))
            world = table.rows[0].world
            biases.append(DatasetBias(world, dataset, estimator, len(seeds), bias, low, high, rmse, r))
    return biases


def _mean_with_interval(numbers: Floats) -> tuple[float, float, float]:
    mean = numbers.mean()
    left_out = (numbers.sum() - numbers) / (len(numbers) - 1)
    low, high = jackknife_interval(mean, left_out, is_correlation=False)
    return float(mean), float(low), float(high)
