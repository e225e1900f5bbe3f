"""Rows of partial.csv: what a metric predicts beyond what the logged return already tells."""

from __future__ import annotations

import numpy as np

from extrinsic.correlation.estimate import Estimate, correlation_estimate
from extrinsic.correlation.partial import partial_estimate
from extrinsic.correlation.resampling import Sample, draw_trackers
from extrinsic.study.resampled_points import ResampledPoints
from extrinsic.study.settings import CorrelationTable
from extrinsic.study.tables import PartialRow
from extrinsic.study.targets import LOGGED_RETURN
from extrinsic.tables import plain
from extrinsic.verdict.coefficients import is_flat
from extrinsic.verdict.correlations import FEWEST_TRACKERS


def partial_rows(panel: ResampledPoints, settings: CorrelationTable, seed: int) -> list[PartialRow]:
    """Pearson's r of every metric with every other target, within datasets, given the logged return.

    None where the logged return is no target or there are too few trackers. A metric without a correlation
    has no row: `correlations` has the reason.
    """
    if LOGGED_RETURN not in panel.targets or len(panel.trackers) <= FEWEST_TRACKERS:
        return []
    given = panel.targets.index(LOGGED_RETURN)
    others = [k for k in range(len(panel.targets)) if k != given]
    sample, every = panel.sample, slice(None)
    r = Estimate(
        panel.correlations("pearson", "within"),
        panel.resampled(seed),
        panel.left_out("pearson", "within"),
    )
    drawn = draw_trackers(panel.identity, len(panel.trackers), settings.resamples, seed)
    alone = Sample(
        sample.targets[[given]], sample.targets, sample.targets_drawn[:, [given]], sample.targets_drawn
    )
    of_targets = correlation_estimate(alone, "pearson", "within", "both", drawn)
    partial = partial_estimate(r.take(every, others), r.take(every, [given]), of_targets.take(every, others))
    # Rounding may leave a correlation just beyond 1.
    low, high = (np.clip(bound, -1.0, 1.0) for bound in partial.interval(settings.level))
    jackknife_low, jackknife_high = partial.jackknife(settings.level)
    flat = is_flat(sample.metrics, "within")
    test = panel.permuted(settings.permutations, seed, LOGGED_RETURN)
    rows = []
    for column, k in enumerate(others):
        for m, (metric, schedule, component, _) in enumerate(panel.metrics):
            if flat[m] or np.isnan(partial.value[m, column]):
                continue
            rows.append(
                PartialRow(
                    target=panel.targets[k],
                    given=LOGGED_RETURN,
                    metric=metric,
                    schedule=schedule,
                    component=component,
                    scope="within",
                    r=float(r.value[m, k]),
                    r_given=float(r.value[m, given]),
                    partial=float(partial.value[m, column]),
                    low=plain(low[m, column]),
                    high=plain(high[m, column]),
                    jackknife_low=plain(jackknife_low[m, column]),
                    jackknife_high=plain(jackknife_high[m, column]),
                    n=panel.n_points,
                    trackers=panel.group,
                    variant=panel.variant,
                    p=plain(test.p[m, column]),
                    p_max_t=plain(test.p_max_t[m, column]),
                )
            )
    return rows
