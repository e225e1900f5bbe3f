"""Lee's figure 2: what policies earn on every tracker, and what he says of it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from experiments.lee2014.judging import ACCURACY, GAINS, Where, gain_of, judge_gains, returns_of
from experiments.lee2014.points import Points
from experiments.lee2014.runs import POLICIES
from extrinsic.arrays import Floats
from extrinsic.correlation.coefficients import correlate
from extrinsic.report.results.lee_findings import FAILS, HOLDS, OPEN, verdict_of

Rows = list[dict[str, Any]]

BASELINE = "baseline"
SMALL = 0.5
"""A gain of supervised policies below this share of the learned ones' is not large."""

SHOWN = ("behaviour", *POLICIES)


def tracker_means(points: Points, where: Where) -> Rows:
    """A row for every tracker: means over datasets, over seeds with their range, and accuracy at the end."""
    rows = []
    accuracy = points.metric(ACCURACY).mean(axis=1)
    for place, tracker in enumerate(points.trackers):
        row: dict[str, Any] = {"tracker": tracker}
        for policy in SHOWN:
            by_seed = returns_of(points, where, policy)[..., place].mean(axis=1)
            row |= {
                policy: float(by_seed.mean()),
                f"{policy}_low": float(by_seed.min()),
                f"{policy}_high": float(by_seed.max()),
            }
        rows.append(row | {"accuracy": float(accuracy[:, place].mean())})
    return rows


def policy_rows(points: Points, where: Where) -> Rows:
    """What is said of figure 2, held against all trackers."""
    every, seeds = points.chosen("all"), np.arange(len(points.seeds))
    found = judge_gains(points, where, seeds, every)
    rows = []
    for key, (more, less) in GAINS.items():
        low, high = found[key].bounds
        rows.append(
            _row(where, key, found[key].verdict, found[key].value, low, high)
            | _counted(gain_of(points, where, more, less))
        )
    for policy in ("sl", "sl_sampled"):
        rows.append(_supervised(points, where, policy, found["RL above behaviour"].value))
    return [*rows, _baseline(points, where), _alignment(points, where)]


def _row(
    where: Where, claim: str, verdict: str, value: float, low: Any = None, high: Any = None
) -> dict[str, Any]:
    return {
        "fill": where.fill,
        "target": where.estimator,
        "claim": claim,
        "verdict": verdict,
        "value": value,
        "low": low,
        "high": high,
    }


def _counted(gain: Floats) -> dict[str, Any]:
    """The range over seeds, trackers above 0 (means over datasets and seeds), and points above 0."""
    of_trackers, of_seeds = gain.mean(axis=(0, 1)), gain.mean(axis=(1, 2))
    return {
        "lowest_seed": float(of_seeds.min()),
        "highest_seed": float(of_seeds.max()),
        "above": int((of_trackers > 0.0).sum()),
        "of": len(of_trackers),
        "points_above": int((gain > 0.0).sum()),
        "points": gain.size,
    }


def _supervised(points: Points, where: Where, policy: str, learned_gain: float) -> dict[str, Any]:
    """SL earns more than behaviour, but the gain is neither large nor constant."""
    gain = gain_of(points, where, policy, "behaviour")
    mean, low, high = _mean_with_bounds(gain.mean(axis=(0, 1)))
    counted = _counted(gain)
    if high < 0.0:
        verdict = FAILS
    elif low <= 0.0:
        verdict = OPEN
    else:
        constant = counted["points_above"] == counted["points"]
        verdict = FAILS if constant or mean > SMALL * learned_gain else HOLDS
    claim = f"{'sampled SL' if policy == 'sl_sampled' else 'SL'} a little above behaviour, not always"
    return _row(where, claim, verdict, mean, low, high) | counted


def _mean_with_bounds(values: Floats) -> tuple[float, float, float]:
    """Mean over trackers, with Student's 95 % interval."""
    from scipy.special import stdtrit

    half = stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean()), float(values.mean() - half), float(values.mean() + half)


def _baseline(points: Points, where: Where) -> dict[str, Any]:
    """Most trackers earn more than the baseline; clear is what every seed says."""
    earned = returns_of(points, where, "rl").mean(axis=1)
    base = points.trackers.index(BASELINE)
    above = np.delete(earned - earned[:, [base]], base, axis=1)
    always, never = int((above > 0.0).all(axis=0).sum()), int((above < 0.0).all(axis=0).sum())
    row = _row(
        where,
        "most trackers above the baseline in RL",
        verdict_of(always, never, above.shape[1]),
        float(np.median(above.mean(axis=0))),
    )
    return row | {"above": always, "below": never, "of": above.shape[1]}


def _alignment(points: Points, where: Where) -> dict[str, Any]:
    """RL does not exactly align with accuracy at the end: pairs of trackers that every seed puts in one order
    by accuracy and in the other by return."""
    accuracy = points.metric(ACCURACY).mean(axis=1)
    earned = returns_of(points, where, "rl").mean(axis=1)
    reversed_pairs = total = 0
    for i, j in combinations(range(len(points.trackers)), 2):
        product = (accuracy[:, i] - accuracy[:, j]) * (earned[:, i] - earned[:, j])
        one_way = abs(np.sign(accuracy[:, i] - accuracy[:, j]).sum()) == len(points.seeds)
        reversed_pairs += bool(one_way and (product < 0.0).all())
        total += 1
    tau = correlate(accuracy.mean(axis=0)[None, None], earned.mean(axis=0)[None, None], "kendall", "pooled")
    aligned = float(tau[0, 0])
    verdict = HOLDS if reversed_pairs else FAILS if aligned == 1.0 else OPEN
    row = _row(where, "RL not aligned with accuracy at the end", verdict, aligned)
    return row | {"reversed": reversed_pairs, "of": total}
