"""Bias, error, correlation and coverage of estimators over all cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.selection import Selection
from experiments.truth.tables import EstimatorSummary, PolicyEstimate
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.estimate import Estimate

RESAMPLES = 1_000
NUMBERS = ("value", "low", "high", "live", "live_half_width", "on_policy_gap")


def summarise(rows: Sequence[PolicyEstimate]) -> list[EstimatorSummary]:
    """A row for every estimator, the smallest error first. `rows`: of the same trackers in every world."""
    table = Selection(rows)
    estimators, n_worlds = table.distinct("estimator"), len(table.distinct("seed", "dataset"))
    columns = [table.where(estimator=estimator) for estimator in estimators]
    core = ~np.array(columns[0].column("degenerate")).reshape(n_worlds, -1)[0].astype(bool)
    # (n_estimators, n_worlds, n_trackers)
    every = [
        np.array([each.column(name) for each in columns]).reshape(len(columns), n_worlds, -1)
        for name in NUMBERS
    ]
    value, low, high, live, half_width, gap = (numbers[..., core] for numbers in every)
    errors = value - live
    room = np.hypot(np.where(errors < 0.0, high - value, value - low), half_width)
    drawn = np.random.default_rng(0).integers(0, n_worlds, (RESAMPLES, n_worlds))
    values_drawn, live_drawn = (np.moveaxis(numbers[:, drawn], 0, 1) for numbers in (value, live[:1]))
    r_core = Estimate(
        correlate(value, live[:1], "pearson", "within")[:, 0],
        correlate(values_drawn, live_drawn, "pearson", "within")[..., 0],
    )
    above_observed = r_core.minus(r_core.take([estimators.index("observed")]))
    summary = zip(
        estimators,
        errors.mean(axis=(1, 2)).tolist(),
        np.sqrt((errors**2).mean(axis=(1, 2))).tolist(),
        correlate(every[0], every[3][:1], "pearson", "within")[:, 0].tolist(),
        r_core.value.tolist(),
        above_observed.value.tolist(),
        *(end.tolist() for end in above_observed.interval()),
        ((low <= live) & (live <= high)).mean(axis=(1, 2)).tolist(),
        (np.abs(errors) <= room).mean(axis=(1, 2)).tolist(),
        [sum("infeasible" in row.flags for row in each.rows) for each in columns],
        [sum(bool(row.flags) for row in each.rows) for each in columns],
        gap.mean(axis=(1, 2)).tolist(),
        strict=True,
    )
    summaries = [EstimatorSummary(name, errors[0].size, *numbers) for name, *numbers in summary]
    return sorted(summaries, key=lambda row: row.rmse)
