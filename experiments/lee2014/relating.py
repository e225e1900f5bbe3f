"""Metrics against one target over trackers: coefficients, resampled trackers, swapped metrics.

The unit is the tracker: it is drawn, or swapped, with all its datasets. Dialogs are taken as they are; what
they do is told by the seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import Scope, is_flat
from extrinsic.correlation.estimate import correlation_estimate
from extrinsic.correlation.intervals import interval
from extrinsic.correlation.paired_permutation import swapped_p
from extrinsic.correlation.resampling import Sample, draw_trackers
from extrinsic.report.results.lee_findings import OTHERS, SCORE_QUALITY, Finding, findings
from extrinsic.report.results.naming import Name
from extrinsic.report.results.variant_results import VariantResults
from extrinsic.study.tables.schema import CorrelationRow, PairRow

SEED = 14
"""Of draws of trackers and of swaps."""

RESAMPLES, SWAPS = 1_000, 499

SCORES = ("l2", "avgp")
"""The metrics that Lee names as those of a score's quality."""


@dataclass(frozen=True, eq=False)
class Related:
    """r (n_metrics,), on resampled trackers (n_resamples, n_metrics), p of each two metrics."""

    names: tuple[Name, ...]
    r: Floats
    drawn: Floats
    p: Floats


def relate(
    names: Sequence[Name],
    metrics: Floats,
    target: Floats,
    identity: str,
    scope: Scope = "within",
    resamples: int = RESAMPLES,
    swaps: int = SWAPS,
) -> Related:
    """metrics (n_metrics, n_datasets, n_trackers), target (n_datasets, n_trackers).

    Metrics that are flat, or undefined for a tracker, are left out.
    """
    missing = np.isnan(metrics).any(axis=(1, 2))
    kept = np.flatnonzero(~missing & ~is_flat(np.nan_to_num(metrics), scope))
    metrics, targets = metrics[kept], target[None]
    n_trackers = target.shape[-1]
    sample = Sample.of_trackers(metrics, targets, resamples)
    drawn = draw_trackers(identity, n_trackers, resamples, SEED)
    correlations = correlation_estimate(sample, "pearson", scope, "trackers", drawn, leave_out=False)
    p = np.full((len(kept), len(kept)), np.nan)
    if swaps:
        # Whole trackers are swapped, so a tracker's value stands for its dialogs.
        whole = [metrics[:, place, :, None] for place in range(metrics.shape[1])]
        p = swapped_p(whole, target, scope, "trackers", swaps, identity, SEED)
    r, resampled = correlations.value[:, 0], correlations.resampled[..., 0]
    return Related(tuple(names[i] for i in kept.tolist()), r, resampled, p)


def bounds(observed: Any, drawn: Floats) -> tuple[Floats, Floats]:
    """95 %, by percentiles of the resamples."""
    return interval(np.asarray(observed), drawn)


def lee_findings(related: Related) -> list[Finding]:
    """Lee's three, by the rule of the tool's report."""
    return findings(_evidence(related))


def best_pair(related: Related) -> tuple[int, int]:
    """The best metric of score quality and the best of the others, as that rule takes them."""
    order = np.argsort(-related.r, kind="stable").tolist()
    quality = next(i for i in order if related.names[i].metric in SCORE_QUALITY)
    other = next(i for i in order if related.names[i].metric.startswith(OTHERS))
    return quality, other


def strict_pair(related: Related) -> tuple[int, int]:
    """The better of L2 and AvgP and the best of all others: Lee calls MRR a metric of rank, not of score."""
    order = np.argsort(-related.r, kind="stable").tolist()
    scores = next(i for i in order if related.names[i].metric in SCORES)
    other = next(i for i in order if related.names[i].metric not in SCORES)
    return scores, other


def schedule_pairs(names: Sequence[Name]) -> Ints:
    """(n, 2) the places of each metric on schedule 1 or 3, and of the same one on schedule 2."""
    place = {name: number for number, name in enumerate(names)}
    pairs = [
        (place[full], place[name])
        for name in names
        if name.schedule == 2
        for full in (name._replace(schedule=1), name._replace(schedule=3))
        if full in place
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _evidence(related: Related) -> VariantResults:
    """As the report gathers it; of pairs just those that the rule looks at."""
    low, high = bounds(related.r, related.drawn)
    # The rule looks at names and numbers only; what else a row has is left empty.
    about: dict[str, Any] = {"target": "", "scope": "within", "trackers": "all", "n": 0}
    rows = [
        CorrelationRow(
            **about,
            **name._asdict(),
            coefficient="pearson",
            r=float(related.r[i]),
            low=float(low[i]),
            high=float(high[i]),
        )
        for i, name in enumerate(related.names)
    ]
    wanted = np.concatenate([[best_pair(related)], schedule_pairs(related.names)])
    first, second = wanted.T
    apart = related.r[first] - related.r[second]
    low, high = bounds(apart, related.drawn[:, first] - related.drawn[:, second])
    pairs = [
        PairRow(
            **about,
            **{f"{key}_a": value for key, value in related.names[a]._asdict().items()},
            **{f"{key}_b": value for key, value in related.names[b]._asdict().items()},
            r_a=float(related.r[a]),
            r_b=float(related.r[b]),
            difference=float(apart[i]),
            low=float(low[i]),
            high=float(high[i]),
            p=float(related.p[a, b]),
            p_both=np.nan,
            r_ab=np.nan,
            n_independent=0,
        )
        for i, (a, b) in enumerate(wanted.tolist())
    ]
    ranked = [rows[i] for i in np.argsort(-related.r, kind="stable").tolist()]
    return VariantResults("", "", ranked={"all": ranked}, pairs=pairs)
