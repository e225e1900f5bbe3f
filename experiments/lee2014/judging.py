"""Lee's findings held against points: a verdict for each, and the number it hangs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.lee2014.points import Points
from experiments.lee2014.relating import (
    RESAMPLES,
    SEED,
    SWAPS,
    Related,
    best_pair,
    bounds,
    lee_findings,
    relate,
    schedule_pairs,
    strict_pair,
)
from experiments.lee2014.runs import BEHAVIOUR, ESTIMATORS, FILLS, LEE
from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.coefficients import Scope
from extrinsic.correlation.resampling import draw_trackers
from extrinsic.report.results.lee_findings import DISCRIMINATION, FAILS, HOLDS, OPEN
from extrinsic.report.results.naming import Name
from extrinsic.report.results.variant_results import is_clear

SCORES, QUALITY = "L2 or AvgP first", "L2 or AvgP or MRR first"
SCHEDULES, ROC = "schedule 2 below 1 and 3", "ROC.V2 hardly correlates"
BETTER = "better trackers give better policies"
GAINS = {
    "RL above behaviour": ("rl", "behaviour"),
    "RL above SL": ("rl", "sl"),
    "RL above sampled SL": ("rl", "sl_sampled"),
}
"""The policy that should earn more, and the one that should earn less."""

FINDINGS = (SCORES, QUALITY, SCHEDULES, ROC, BETTER, *GAINS)
GROUPS = ("all", "core")

StateActions = dict[str, tuple[Name, Name]]
"""By finding, the metric that should correlate more and the one that should correlate less."""

Number = tuple[float, Floats]
"""What decides a finding, and the same on resampled trackers."""

ACCURACY = Name("accuracy", 3, "all")
"""What Lee's figure 2 has on its right axis."""


@dataclass(frozen=True)
class Where:
    """What is judged: a fill rule, who says what a policy is worth, and how points are compared."""

    fill: str
    estimator: str
    scope: Scope = "within"


@dataclass(frozen=True, eq=False)
class Judged:
    """A verdict; the number that decides it, and that number on resampled trackers (n_resamples,).

    What comes first: r of the best such metric less r of the best of the others. Schedules: the mean of r on
    1 or 3 less r on 2. ROC.V2: the mean r. Better trackers: r of accuracy at the end. Policies: points.
    """

    verdict: str
    value: float
    drawn: Floats

    @property
    def bounds(self) -> tuple[float, float]:
        low, high = bounds(self.value, self.drawn)
        return float(low), float(high)

    @property
    def error(self) -> float:
        return float(np.nanstd(self.drawn, ddof=1))


def wheres() -> list[Where]:
    return [Where(fill, estimator) for fill in FILLS for estimator in ESTIMATORS]


def related_of(
    points: Points, where: Where, seeds: Ints, trackers: Ints, resamples: int = RESAMPLES, swaps: int = SWAPS
) -> Related:
    """Lee's metrics and the return of the learned policy, both averaged over seeds first."""
    his = [i for i, name in enumerate(points.names) if name.metric in LEE]
    metrics = points.metrics[his][:, seeds][..., trackers].mean(axis=1)
    target = returns_of(points, where, "rl")[seeds][..., trackers].mean(axis=0)
    identity = _identity(points, trackers)
    names = [points.names[i] for i in his]
    return relate(names, metrics, target, identity, where.scope, resamples, swaps)


def judge(
    points: Points,
    where: Where,
    seeds: Ints,
    trackers: Ints,
    resamples: int = RESAMPLES,
    swaps: int = SWAPS,
    pairs: StateActions | None = None,
) -> dict[str, Judged]:
    """pairs: whose differences are taken, where not of the metrics that are best on these trackers."""
    related = related_of(points, where, seeds, trackers, resamples, swaps)
    pairs = pairs or best_pairs(related)
    numbers = {key: _difference(related, pair) for key, pair in pairs.items()}
    numbers |= {SCHEDULES: _schedules(related), ROC: _discrimination(related)}
    low, high = bounds(*numbers[SCORES])
    first, second = (related.names.index(name) for name in pairs[SCORES])
    clear = is_clear(float(low), float(high), float(related.p[first, second]))
    verdicts = dict(zip((QUALITY, SCHEDULES, ROC), lee_findings(related), strict=True))
    found = {key: Judged(finding.verdict, *numbers[key]) for key, finding in verdicts.items()}
    said = OPEN if not clear else HOLDS if numbers[SCORES][0] > 0.0 else FAILS
    found[SCORES] = Judged(said, *numbers[SCORES])
    found[BETTER] = _by_interval(*_of(related, [related.names.index(ACCURACY)]))
    found |= judge_gains(points, where, seeds, trackers, resamples)
    return {key: found[key] for key in FINDINGS}


def judge_gains(
    points: Points, where: Where, seeds: Ints, trackers: Ints, resamples: int = RESAMPLES
) -> dict[str, Judged]:
    """What is found about policies: mean differences over datasets, seeds and trackers."""
    drawn = draw_trackers(_identity(points, trackers), len(trackers), resamples, SEED)
    found = {}
    for key, (more, less) in GAINS.items():
        gain = gain_of(points, where, more, less)[seeds][..., trackers].mean(axis=(0, 1))
        found[key] = _by_interval(float(gain.mean()), gain[drawn].mean(axis=1))
    return found


def returns_of(points: Points, where: Where, policy: str) -> Floats:
    """(n_seeds, n_datasets, n_trackers); what the logged policy earned is observed, whoever estimates."""
    estimator = BEHAVIOUR if policy == "behaviour" else where.estimator
    return points.returns[f"{where.fill} {policy} {estimator}"]


def gain_of(points: Points, where: Where, more: str, less: str) -> Floats:
    return returns_of(points, where, more) - returns_of(points, where, less)


def best_pairs(related: Related) -> StateActions:
    return {
        key: (related.names[first], related.names[second])
        for key, (first, second) in ((SCORES, strict_pair(related)), (QUALITY, best_pair(related)))
    }


def _of(related: Related, places: Sequence[int] | Ints) -> Number:
    """The mean coefficient of some metrics, and on every resample."""
    return float(related.r[places].mean()), related.drawn[:, places].mean(axis=1)


def _difference(related: Related, pair: tuple[Name, Name]) -> Number:
    (r, drawn), (other, other_drawn) = (_of(related, [related.names.index(name)]) for name in pair)
    return r - other, drawn - other_drawn


def _schedules(related: Related) -> Number:
    full, second = (_of(related, places) for places in schedule_pairs(related.names).T)
    return full[0] - second[0], full[1] - second[1]


def _discrimination(related: Related) -> Number:
    return _of(related, [i for i, name in enumerate(related.names) if name.metric.startswith(DISCRIMINATION)])


def _by_interval(value: float, drawn: Floats) -> Judged:
    """A number above 0 is what Lee found."""
    low, high = bounds(value, drawn)
    return Judged(HOLDS if low > 0.0 else FAILS if high < 0.0 else OPEN, value, drawn)


def _identity(points: Points, trackers: Ints) -> str:
    return " ".join(points.trackers[i] for i in trackers)
