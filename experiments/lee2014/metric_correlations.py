"""Lee's figure 3: how every metric correlates with the return of the learned policy, on resampled trackers.

The unit is the tracker: it is drawn with all its datasets. Dialogs are taken as they are; how much they
matter is seen by comparing seeds.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from experiments.estimate_rows import estimate_fields
from experiments.lee2014.points import Condition, Points
from experiments.lee2014.tables import BRIER, LEE, METRICS, STATES, Beyond, Correlation, Spread, filled
from experiments.partial_correlations import beyond_logged, with_logged
from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import Scope, correlate
from extrinsic.correlation.estimate import Estimate, combine, correlation_estimate
from extrinsic.correlation.resampling import Sample, draw_trackers

SEED = 14
"""Of draws of trackers and of swaps."""

RESAMPLES = 1_000

N_LEE = sum(name.metric in LEE for name in METRICS)
"""Lee's metrics are the first of METRICS."""


def correlate_metrics(
    metrics: Floats, target: Floats, identity: str, scope: Scope, resamples: int = RESAMPLES
) -> Estimate:
    """r, value (n_metrics,), of metrics (n_metrics, n_datasets, n_trackers) with target (n_datasets, ...).

    NaN of metrics that are flat, or undefined for a tracker.
    """
    drawn = draw_trackers(identity, target.shape[-1], resamples, SEED)
    sample = Sample.of_trackers(metrics, target[None], resamples)
    r = correlation_estimate(sample, "pearson", scope, "trackers", drawn, leave_out=False)
    return r.take(slice(None), 0)


def seed_correlations(
    points: Points, condition: Condition, metrics: Ints, trackers: Ints
) -> tuple[Floats, Estimate]:
    """r of every seed (n_seeds, n_metrics), and their mean, on the same draws of trackers."""
    values, earned = points.metrics[metrics][..., trackers], points.earned(condition, "rl")[..., trackers]
    by_seed = [
        correlate_metrics(values[:, seed], earned[seed], points.identity(trackers), condition.scope)
        for seed in range(len(points.seeds))
    ]
    return np.array([r.value for r in by_seed]), combine(lambda *r: np.mean(r, axis=0), *by_seed)


def correlation_of_means(points: Points, condition: Condition, metrics: Ints, trackers: Ints) -> Floats:
    """(n_metrics,) r where metric and return are averaged over seeds first."""
    values = points.metrics[metrics][..., trackers].mean(axis=1)
    target = points.earned(condition, "rl")[..., trackers].mean(axis=0)
    return correlate(values, target[None], "pearson", condition.scope)[:, 0]


def shown_metrics(fill: str) -> Ints:
    """Lee's, and those of state sets that are filled by the same rule as the reward."""
    states = {filled(metric, fill) for metric in STATES}
    return np.array([i for i, name in enumerate(METRICS) if name.metric in {*LEE, BRIER, *states}])


def correlation_rows(points: Points, condition: Condition) -> list[Correlation]:
    """A row for every metric, the best first."""
    shown, every = shown_metrics(condition.fill), points.group("all")
    by_seed, mean = seed_correlations(points, condition, shown, every)
    earned = points.earned(condition, "rl")
    pooled = [
        correlate(points.metrics[shown, seed], earned[seed, None], "pearson", "pooled")[:, 0]
        for seed in range(len(points.seeds))
    ]
    columns = {
        "r": mean.value,
        "lowest_seed": by_seed.min(axis=0),
        "highest_seed": by_seed.max(axis=0),
        **mean.interval()._asdict(),
        "of_means": correlation_of_means(points, condition, shown, every),
        "core": correlation_of_means(points, condition, shown, points.core),
        "pooled": np.mean(pooled, axis=0),
    }
    rows = []
    for i in np.argsort(-mean.value, kind="stable"):  # NaN go last
        row = Correlation(condition.fill, condition.target, *METRICS[shown[i]])
        values = {name: float(column[i]) for name, column in columns.items()}
        rows.append(row if np.isnan(mean.value[i]) else replace(row, **values))
    return rows


def spread_rows(points: Points, condition: Condition, group: str) -> list[Spread]:
    lee, trackers = np.arange(N_LEE), points.group(group)
    by_seed, mean = seed_correlations(points, condition, lee, trackers)
    defined = ~np.isnan(mean.value)
    over_seeds = by_seed[:, defined].var(axis=0, ddof=1)
    over_trackers = mean.resampled[:, defined].var(axis=0, ddof=1)
    gained = correlation_of_means(points, condition, lee, trackers) - mean.value
    row = Spread(
        fill=condition.fill,
        target=condition.target,
        trackers=group,
        metrics=int(defined.sum()),
        by_seeds=float(np.median(np.sqrt(over_seeds))),
        by_trackers=float(np.median(np.sqrt(over_trackers))),
        seeds_share=float(np.median(over_seeds / (over_seeds + over_trackers))),
        attenuation=float(np.median(gained[defined])),
        reliability=reliability(points.earned(condition, "rl")[..., trackers]),
    )
    return [row]


def reliability(values: Floats) -> float:
    """(n_seeds, n_datasets, n_trackers) -> the mean correlation, within datasets, of each two seeds."""
    between = correlate(values, values, "pearson", "within")
    return float(between[np.triu_indices(len(values), 1)].mean())


def beyond_rows(points: Points, condition: Condition) -> list[Beyond]:
    """Beyond the logged return: core trackers, seeds averaged; only trackers are resampled."""
    core, shown = points.core, shown_metrics(condition.fill)
    learned, logged = (points.earned(condition, who)[..., core].mean(axis=0) for who in ("rl", "behaviour"))
    metrics, targets = with_logged(points.metrics[shown][..., core].mean(axis=1), learned, logged)
    drawn = draw_trackers(points.identity(core), len(core), RESAMPLES, SEED)
    sample = Sample.of_trackers(metrics, targets, RESAMPLES)
    correlations = correlation_estimate(sample, "pearson", "within", "trackers", drawn)
    return [
        Beyond(
            fill=condition.fill,
            metric=METRICS[shown[number]].metric,
            schedule=METRICS[shown[number]].schedule,
            component=METRICS[shown[number]].component,
            kind=kind,
            **estimate_fields(estimate),
        )
        for number, kind, estimate in beyond_logged(correlations)
    ]
