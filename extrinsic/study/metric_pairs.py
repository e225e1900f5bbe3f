"""Rows of pairs.csv: two metrics against the primary target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.dependent import williams, zou_interval
from extrinsic.correlation.paired_permutation import Swapped, swapped_p
from extrinsic.study.resampled_points import ResampledPoints
from extrinsic.study.settings import CorrelationTable
from extrinsic.tables import plain
from extrinsic.verdict.coefficients import DIGITS, Scope, correlate
from extrinsic.verdict.intervals import interval
from extrinsic.verdict.rows import PairRow

SWAPS, FEWER_SWAPS, MANY = 999, 199, 30
"""Enough for p-values that are not corrected for multiple testing; fewer for more than MANY trackers."""


def swap_metrics(
    panel: ResampledPoints, kept: Ints, scope: Scope, way: Swapped, settings: CorrelationTable, seed: int
) -> Floats:
    """(n_kept, n_kept) p-values of the differences of metrics, by swapping."""
    contributions = panel.contributions
    if len(kept) < len(panel.metrics):
        contributions = tuple(part[kept] for part in contributions)
    swaps = min(settings.permutations, SWAPS if len(panel.trackers) <= MANY else FEWER_SWAPS)
    return swapped_p(contributions, panel.sample.targets[0], scope, way, swaps, panel.identity, seed)


def pair_rows(
    panel: ResampledPoints,
    kept: Ints,
    by_trackers: Floats,
    by_both: Floats,
    scope: Scope,
    settings: CorrelationTable,
    seed: int,
) -> list[PairRow]:
    """Every two metrics, the better one first.

    n_independent: points less the degrees of freedom lost by centring; Williams and Zou assume independence.
    """
    sample, target = panel.sample, panel.targets[0]
    r = correlate(sample.metrics[kept], sample.targets[:1], "pearson", scope)[:, 0]
    among = correlate(sample.metrics[kept], sample.metrics[kept], "pearson", scope)
    resampled = panel.resampled(seed)[:, kept, 0]
    n_independent = panel.n_points - (len(panel.datasets) - 1 if scope == "within" else 0)
    # Rounded: metrics that tie must not change places with the last bits of a processor.
    order = np.argsort(-np.round(r, DIGITS), kind="stable").tolist()
    rows = []
    for position, a in enumerate(order):
        others = order[position + 1 :]
        differences = r[a] - r[others]
        low, high = interval(differences, resampled[:, [a]] - resampled[:, others], settings.level)
        metric_a, schedule_a, component_a, _ = panel.metrics[kept[a]]
        for number, b in enumerate(others):
            metric_b, schedule_b, component_b, _ = panel.metrics[kept[b]]
            closed = _closed_forms(float(r[a]), float(r[b]), float(among[a, b]), n_independent)
            rows.append(
                PairRow(
                    target=target,
                    metric_a=metric_a,
                    schedule_a=schedule_a,
                    component_a=component_a,
                    metric_b=metric_b,
                    schedule_b=schedule_b,
                    component_b=component_b,
                    scope=scope,
                    r_a=float(r[a]),
                    r_b=float(r[b]),
                    difference=float(differences[number]),
                    low=plain(low[number]),
                    high=plain(high[number]),
                    p=float(by_trackers[a, b]),
                    p_both=float(by_both[a, b]),
                    williams_t=closed.t,
                    williams_p=closed.p,
                    zou_low=closed.low,
                    zou_high=closed.high,
                    r_ab=float(among[a, b]),
                    n=panel.n_points,
                    n_independent=n_independent,
                    trackers=panel.group,
                    variant=panel.variant,
                )
            )
    return rows


class _ClosedForms(NamedTuple):
    """Williams's t and p, Zou's interval."""

    t: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None


def _closed_forms(r_a: float, r_b: float, r_ab: float, n_independent: int) -> _ClosedForms:
    """All None where there are too few points."""
    if n_independent <= 3:
        return _ClosedForms()
    test = williams(r_a, r_b, r_ab, n_independent)
    low, high = zou_interval(r_a, r_b, r_ab, n_independent)
    return _ClosedForms(plain(test.t), plain(test.p), plain(low), plain(high))
