"""Lee's figure 2: what policies earn on every tracker, and whether what he says of it holds."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from experiments.lee2014.findings import ACCURACY, GAINS, judge_gains
from experiments.lee2014.points import Condition, Points
from experiments.lee2014.tables import PolicyClaim
from extrinsic.arrays import Floats
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.verdicts import Support, side_of_zero, support, support_by_count

BASELINE = "baseline"
ABOVE_BASELINE = "most trackers above the baseline in RL"
NOT_ALIGNED = "RL not aligned with accuracy at the end"
SUPERVISED = {
    "SL a little above behaviour, not always": "sl",
    "sampled SL a little above behaviour, not always": "sl_sampled",
}
SMALL = 0.5
"""A gain of supervised policies below this share of the learned ones' is a little."""


def policy_rows(points: Points, condition: Condition) -> list[PolicyClaim]:
    """What is said of figure 2, of all trackers."""
    about, seeds = (condition.fill, condition.target), np.arange(len(points.seeds))
    judged = judge_gains(points, condition, seeds, points.group("all"))
    rows = []
    for claim, policies in GAINS.items():
        mean = judged[claim].number
        low, high = map(float, mean.interval())
        row = PolicyClaim(*about, claim, judged[claim].verdict, float(mean.value), low, high)
        rows.append(_with_counts(row, points.gain(condition, *policies)))
    learned_gain = rows[0].value
    for claim, policy in SUPERVISED.items():
        gain = points.gain(condition, policy, "behaviour")
        verdict, mean_and_ends = _supervised_gain(gain, learned_gain)
        rows.append(_with_counts(PolicyClaim(*about, claim, verdict, *mean_and_ends), gain))
    return [*rows, _baseline_row(points, condition), _alignment_row(points, condition)]


def _with_counts(row: PolicyClaim, gain: Floats) -> PolicyClaim:
    """With the range over seeds and the counts above 0, of gain (n_seeds, n_datasets, n_trackers)."""
    by_tracker, by_seed = gain.mean(axis=(0, 1)), gain.mean(axis=(1, 2))
    return replace(
        row,
        lowest_seed=float(by_seed.min()),
        highest_seed=float(by_seed.max()),
        above=int((by_tracker > 0.0).sum()),
        of=len(by_tracker),
        points_above=int((gain > 0.0).sum()),
        points=gain.size,
    )


def _supervised_gain(gain: Floats, learned_gain: float) -> tuple[Support, tuple[float, float, float]]:
    """SL earns more than behaviour, but the gain is neither large nor constant; with Student's interval."""
    from scipy.stats import ttest_1samp

    by_tracker = gain.mean(axis=(0, 1))
    mean, (low, high) = float(by_tracker.mean()), ttest_1samp(by_tracker, 0.0).confidence_interval(0.95)
    verdict = support(side_of_zero((low, high)))
    if verdict is Support.HOLDS and ((gain > 0.0).all() or mean > SMALL * learned_gain):
        verdict = Support.FAILS
    return verdict, (mean, float(low), float(high))


def _baseline_row(points: Points, condition: Condition) -> PolicyClaim:
    """Most trackers earn more than the baseline; clear is what every seed says."""
    earned = points.earned(condition, "rl").mean(axis=1)
    baseline = points.trackers.index(BASELINE)
    above = np.delete(earned - earned[:, [baseline]], baseline, axis=1)
    always, never = int((above > 0.0).all(axis=0).sum()), int((above < 0.0).all(axis=0).sum())
    total, middle = above.shape[1], float(np.median(above.mean(axis=0)))
    verdict = support_by_count(always, never, total)
    about = (condition.fill, condition.target, ABOVE_BASELINE)
    return PolicyClaim(*about, verdict, middle, above=always, below=never, of=total)


def _alignment_row(points: Points, condition: Condition) -> PolicyClaim:
    """The order of trackers by return is not exactly that by accuracy at the end."""
    accuracy = points.metric(ACCURACY).mean(axis=1)
    earned = points.earned(condition, "rl").mean(axis=1)
    first, second = np.triu_indices(len(points.trackers), 1)
    by_accuracy, by_return = (np.sign(v[:, first] - v[:, second]) for v in (accuracy, earned))
    is_reversed = (by_accuracy == by_accuracy[0]).all(axis=0) & (by_accuracy * by_return < 0.0).all(axis=0)
    n_reversed = int(is_reversed.sum())
    mean_accuracy, mean_return = (values.mean(axis=0)[None, None] for values in (accuracy, earned))
    tau = float(correlate(mean_accuracy, mean_return, "kendall", "pooled")[0, 0])
    verdict = Support.HOLDS if n_reversed else Support.FAILS if tau == 1.0 else Support.NOT_RESOLVED
    about = (condition.fill, condition.target, NOT_ALIGNED)
    return PolicyClaim(*about, verdict, tau, reversed=n_reversed, of=len(first))


def trackers_by_return(points: Points, condition: Condition) -> tuple[list[str], list[str]]:
    """By the return of the learned policy, the best first: all trackers, and where behaviour earns more."""
    earned = points.earned(condition, "rl").mean(axis=(0, 1))
    gain = points.gain(condition, "rl", "behaviour").mean(axis=(0, 1))
    order = np.argsort(-earned, kind="stable")
    return [points.trackers[i] for i in order], [points.trackers[i] for i in order if gain[i] < 0.0]
