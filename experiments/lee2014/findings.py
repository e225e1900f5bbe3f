"""Lee's findings tested on points: the verdict on each, and the number that decides it.

The three about metrics are judged as the tool's report does (extrinsic/report/results/lee_findings.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from experiments.lee2014.metric_correlations import N_LEE, RESAMPLES, SEED, correlate_metrics
from experiments.lee2014.points import Condition, Points
from experiments.lee2014.tables import METRICS, ROC_V2, Finding
from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.estimate import Estimate, combine
from extrinsic.correlation.paired_permutation import swapped_p
from extrinsic.correlation.resampling import draw_trackers
from extrinsic.correlation.verdicts import Support, support, support_by_count
from extrinsic.report.results.lee_findings import SCORE_QUALITY, hardly_correlates
from extrinsic.report.results.variant_results import LEVEL
from extrinsic.study.naming import Name

SWAPS = 499

SCORES = "L2 or AvgP first"
SCHEDULES, ROC = "schedule 2 below 1 and 3", "ROC.V2 hardly correlates"
BETTER = "better trackers give better policies"
ABOUT_METRICS = (SCORES, SCHEDULES, ROC, BETTER)
GAINS = {
    "RL above behaviour": ("rl", "behaviour"),
    "RL above SL": ("rl", "sl"),
    "RL above sampled SL": ("rl", "sl_sampled"),
}
"""The policy that should earn more, and the one that should earn less."""

FINDINGS = (*ABOUT_METRICS, *GAINS)

ACCURACY = Name("accuracy", 3, "all")
"""What Lee's figure 2 has on its right axis."""

LEE_NAMES = METRICS[:N_LEE]
CURVES = [i for i, name in enumerate(LEE_NAMES) if name.metric in ROC_V2]
SCHEDULE_PAIRS = np.array(
    [
        (LEE_NAMES.index(name._replace(schedule=full)), i)
        for i, name in enumerate(LEE_NAMES)
        if name.schedule == 2
        for full in (1, 3)
    ]
)
"""(n, 2) the indices of each metric on schedule 1 or 3, and of the same metric on schedule 2."""

Pairs = dict[str, Ints]
"""By finding, (1, 2) the metric that should correlate more and the one that should correlate less."""


@dataclass(frozen=True, eq=False)
class Judged:
    """A verdict, and the number that decides it (see `tables.Finding`), on resampled trackers.

    pair: the metrics compared, where it is about two.
    """

    verdict: str
    number: Estimate
    pair: Ints | None = None


@dataclass(frozen=True, eq=False)
class LeeCorrelations:
    """r of Lee's metrics, value (N_LEE,), and p (N_LEE, N_LEE) of the difference of each two.

    Metrics that are flat, or undefined for a tracker, have no r and are left out of everything.
    """

    r: Estimate
    p: Floats

    def mean(self, metrics: Sequence[int]) -> Estimate:
        defined = [i for i in metrics if not np.isnan(self.r.value[i])]
        return combine(lambda r: r[..., defined].mean(axis=-1), self.r)

    def difference(self, pairs: Ints) -> Estimate:
        """Of the mean r of the first metrics of pairs (n, 2) and that of the second ones."""
        first, second = self._defined(pairs).T.tolist()
        return self.mean(first).minus(self.mean(second))

    def lead(self, pairs: Ints) -> Support:
        """Whether the first metrics of pairs (n, 2) correlate more, by the clear differences."""
        first, second = self._defined(pairs).T
        apart = combine(lambda r: r[..., first] - r[..., second], self.r, is_correlation=False)
        low, high = apart.interval()
        is_clear = ((low > 0.0) | (high < 0.0)) & (self.p[first, second] < LEVEL)
        n_for = int((is_clear & (apart.value > 0.0)).sum())
        return support_by_count(n_for, int(is_clear.sum()) - n_for, len(is_clear))

    def _defined(self, pairs: Ints) -> Ints:
        return np.asarray(pairs[~np.isnan(self.r.value[pairs]).any(axis=1)])

    def best(self, of_score_quality: bool) -> int:
        metrics = [
            i for i, name in enumerate(LEE_NAMES) if (name.metric in SCORE_QUALITY) == of_score_quality
        ]
        return metrics[int(np.nanargmax(self.r.value[metrics]))]

    def best_pairs(self) -> Pairs:
        """The best metric of score quality and the best of the others."""
        return {SCORES: np.array([[self.best(of_score_quality=True), self.best(of_score_quality=False)]])}


def lee_correlations(
    points: Points,
    condition: Condition,
    seeds: Ints,
    trackers: Ints,
    resamples: int = RESAMPLES,
    swaps: int = SWAPS,
) -> LeeCorrelations:
    """With the return of the learned policy; both averaged over seeds first. swaps: 0 for no p-values."""
    metrics = points.metrics[:N_LEE, seeds][..., trackers].mean(axis=1)
    target = points.earned(condition, "rl")[seeds][..., trackers].mean(axis=0)
    identity, scope = points.identity(trackers), condition.scope
    p = np.full((N_LEE, N_LEE), np.nan)
    if swaps:
        # Whole trackers are swapped, so a tracker's value stands for its dialogs.
        whole = [metrics[:, dataset, :, None] for dataset in range(len(points.datasets))]
        p = swapped_p(whole, target, scope, "trackers", swaps, identity, SEED)
    return LeeCorrelations(correlate_metrics(metrics, target, identity, scope, resamples), p)


def judge(
    points: Points,
    condition: Condition,
    seeds: Ints,
    trackers: Ints,
    resamples: int = RESAMPLES,
    swaps: int = SWAPS,
    pairs: Pairs | None = None,
) -> dict[str, Judged]:
    """pairs: whose differences are taken, where not of the metrics that are best on these trackers."""
    lee = lee_correlations(points, condition, seeds, trackers, resamples, swaps)
    scores = (pairs or lee.best_pairs())[SCORES]
    intervals = np.transpose(lee.r.take(CURVES).interval())
    curves = [(low, high) for low, high in intervals.tolist() if not np.isnan(low)]
    accuracy = lee.mean([LEE_NAMES.index(ACCURACY)])
    return {
        SCORES: Judged(lee.lead(scores), lee.difference(scores), scores),
        SCHEDULES: Judged(lee.lead(SCHEDULE_PAIRS), lee.difference(SCHEDULE_PAIRS)),
        ROC: Judged(hardly_correlates(curves), lee.mean(CURVES)),
        BETTER: Judged(support(accuracy.verdict()), accuracy),
        **judge_gains(points, condition, seeds, trackers, resamples),
    }


def judge_gains(
    points: Points, condition: Condition, seeds: Ints, trackers: Ints, resamples: int = RESAMPLES
) -> dict[str, Judged]:
    """The findings about policies: mean differences over datasets, seeds and trackers."""
    drawn = draw_trackers(points.identity(trackers), len(trackers), resamples, SEED)
    judged = {}
    for key, policies in GAINS.items():
        gain = points.gain(condition, *policies)[seeds][..., trackers].mean(axis=(0, 1))
        mean = Estimate(np.asarray(gain.mean()), gain[drawn].mean(axis=1), is_correlation=False)
        judged[key] = Judged(support(mean.verdict()), mean)
    return judged


def finding_rows(points: Points, condition: Condition, group: str) -> list[Finding]:
    """Every finding: with means over seeds, and how many seeds alone say the same.

    Pooled, as Lee did, only the findings about metrics are tested, and for all seeds together.
    """
    trackers, seeds = points.group(group), np.arange(len(points.seeds))
    together = judge(points, condition, seeds, trackers)
    rows = []
    for key in FINDINGS if condition.scope == "within" else ABOUT_METRICS:
        verdict, number = together[key].verdict, together[key].number
        low, high = map(float, number.interval())
        about = (key, condition.fill, condition.target, condition.scope, group, verdict)
        rows.append(Finding(*about, float(number.value), low, high))
    if condition.scope == "pooled":
        return rows
    alone = [judge(points, condition, np.array([seed]), trackers) for seed in seeds]
    return [
        _with_seeds(row, together[row.finding].pair, [each[row.finding] for each in alone]) for row in rows
    ]


def _with_seeds(row: Finding, pair: Ints | None, alone: Sequence[Judged]) -> Finding:
    """With what each seed alone says, and the names of the metrics compared."""
    verdicts = [judged.verdict for judged in alone]
    values = [float(judged.number.value) for judged in alone]
    return replace(
        row,
        seeds_same=verdicts.count(row.verdict),
        seeds_hold=verdicts.count(Support.HOLDS),
        seeds_fail=verdicts.count(Support.FAILS),
        lowest_seed=min(values),
        highest_seed=max(values),
        pair=None if pair is None else " against ".join(LEE_NAMES[i].label() for i in pair[0]),
    )
