"""Decide or refuse: is the policy on the first of two trackers the better one, by their scores alone?

A study relates scores x to returns y of trackers (each dataset centred, then the mean over datasets):
y = slope x + e. For two trackers that the study has not seen, with scores that differ by d,

    P(first is better) = F_t( slope d / sqrt(2 s^2 + se(slope)^2 d^2) ),      n - 2 degrees of freedom,

the predictive distribution of a difference in simple regression: s^2 is the variance of e, the part of a
tracker's return that the metric does not see. `calibration` leaves out every two trackers in turn and
compares what is said of them with what is true: of pairs given 80 to 90 %, 80 to 90 % should be right. Scores
outside of those of the study are refused: the relation is not known to hold there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.correlation.coefficients import DIGITS, is_flat
from extrinsic.errors import UsageError

FEWEST_TRACKERS = 5
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MOST = 10**6
"""Larger numbers of dialogs or trackers are as good as none."""


@dataclass(frozen=True)
class DialogNoise:
    """Variances that the dialogs of the study add to a tracker's mean score and return over datasets."""

    n_dialogs: int
    score: float
    returns: float


@dataclass(frozen=True, eq=False)
class Relation:
    """slope, its error, and the standard deviation of a tracker's return about the line.

    lowest, highest (n_datasets,): the scores that the study has seen.   refusal: why nothing can be decided.
    """

    slope: float
    slope_error: float
    residual: float
    n_trackers: int
    lowest: Floats
    highest: Floats
    noise: DialogNoise | None = None
    refusal: str = ""


class Side(StrEnum):
    """Which of the two trackers has the better policy."""

    FIRST = "first"
    SECOND = "second"
    NOT_DECIDED = "not decided"
    REFUSED = "refused"


@dataclass(frozen=True)
class Decision:
    """probability: that the policy on the first is the better one; NaN where it is refused.

    dialogs_needed, trackers_needed: with so many instead (all else as it is) the level would be reached if
    the slope is as estimated; None where no number would do, or where the dialogs' noise is unknown.
    """

    side: Side
    probability: float
    reason: str = ""
    dialogs_needed: int | None = None
    trackers_needed: int | None = None


@dataclass(frozen=True)
class CalibrationBin:
    """Of the pairs that got a probability from low to high for their better side: how many, and how many
    right.

    predicted, right: mean probability, and share that is right (equal returns count half); NaN without pairs.
    """

    low: float
    high: float
    n_pairs: int
    predicted: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """bins from 50 to 100 %.   error: mean over pairs of |predicted - right| of their bin.   right: over
    all."""

    bins: tuple[CalibrationBin, ...]
    n_pairs: int
    right: float
    error: float


def relation(scores: Floats, returns: Floats, noise: DialogNoise | None = None) -> Relation:
    """The regression of returns on scores, both (n_datasets, n_trackers).

    >>> scores = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
    >>> line = relation(scores, 10.0 * scores + np.array([[0.1, -0.1, 0.0, 0.0, -0.1, 0.1]]))
    >>> print(f"{line.slope:.1f} {line.residual:.2f}")
    10.0 0.10
    >>> decision = decide(line, np.array([0.5]), np.array([0.3]))
    >>> print(decision.side, f"{decision.probability:.3f}")
    first 1.000
    >>> print(decide(line, np.array([0.9]), np.array([0.3])).reason)
    the score 0.9 lies outside of the study's (0.1 to 0.6, dataset 1)
    """
    if scores.shape != returns.shape or scores.ndim != 2:
        raise UsageError(
            "scores and returns must be (n_datasets, n_trackers), both alike",
            found=f"{scores.shape} and {returns.shape}",
        )
    n_trackers = scores.shape[1]
    ends = scores.min(axis=1), scores.max(axis=1)
    refusal = ""
    if n_trackers < FEWEST_TRACKERS:
        refusal = f"not decided: {n_trackers} trackers, at least {FEWEST_TRACKERS} are needed"
    elif np.isnan(scores).any() or np.isnan(returns).any():
        refusal = "a score or a return of the study is undefined"
    elif is_flat(scores, "within"):
        refusal = "the metric is the same for all trackers of the study"
    if refusal:
        return Relation(np.nan, np.nan, np.nan, n_trackers, *ends, noise, refusal)
    x, y = _tracker_means(scores), _tracker_means(returns)
    slope, residual, slope_error = _fitted(x, y)
    return Relation(slope, slope_error, residual, n_trackers, *ends, noise)


def decide(study: Relation, first: Floats, second: Floats, level: float = 0.95) -> Decision:
    """From the scores (n_datasets,) of two trackers on the datasets of the study; example: `relation`."""
    refusal = study.refusal or _outside(study, first) or _outside(study, second)
    if refusal:
        return Decision(Side.REFUSED, np.nan, refusal)
    away = float(np.round(np.mean(first - second), DIGITS))
    probability = _probability(away, study.slope, study.residual, study.slope_error, study.n_trackers)
    if max(probability, 1.0 - probability) >= level:
        return Decision(Side.FIRST if probability > 0.5 else Side.SECOND, probability)
    reason = f"the chance of the likelier one is {max(probability, 1.0 - probability):.2f}, below {level:g}"
    return Decision(Side.NOT_DECIDED, probability, reason, *_needed(study, away, level))


def calibration(scores: Floats, returns: Floats, edges: Sequence[float] = EDGES) -> Calibration:
    """What `decide` says of every two trackers (n_datasets, n_trackers) when the relation never saw them.

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(2, 30))
    >>> curve = calibration(scores, scores + rng.normal(size=(2, 30)))
    >>> curve.n_pairs, sum(each.n_pairs for each in curve.bins)
    (435, 435)
    """
    x, y = _tracker_means(scores), _tracker_means(returns)
    n = len(x)
    sure, right = [], []
    for i in range(n):
        for j in range(i):
            others = np.delete(np.arange(n), (i, j))
            slope, residual, slope_error = _fitted(x[others], y[others])
            away = float(np.round(x[i] - x[j], DIGITS))
            probability = _probability(away, slope, residual, slope_error, n - 2)
            better = float(np.sign(np.round(y[i] - y[j], DIGITS)))
            said = 1.0 if probability >= 0.5 else -1.0
            sure.append(max(probability, 1.0 - probability))
            right.append(0.5 + 0.5 * said * better)
    return _curve(np.array(sure), np.array(right), edges)


def _curve(sure: Floats, right: Floats, edges: Sequence[float]) -> Calibration:
    bins, missed = [], 0.0
    for low, high in pairwise(edges):
        inside = (sure >= low) & ((sure < high) | (high == edges[-1]))
        predicted, share = (float(part[inside].mean()) if inside.any() else np.nan for part in (sure, right))
        bins.append(CalibrationBin(low, high, int(inside.sum()), predicted, share))
        if inside.any():
            missed += float(inside.sum()) * abs(predicted - share)
    mean = float(right.mean()) if len(right) else np.nan
    return Calibration(tuple(bins), len(sure), mean, missed / len(sure) if len(sure) else np.nan)


def _tracker_means(values: Floats) -> Floats:
    """(n_trackers,) means over datasets of values less their dataset's mean."""
    return np.asarray((values - values.mean(axis=1, keepdims=True)).mean(axis=0))


def _fitted(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Slope, standard deviation of the residuals, error of the slope."""
    away, goal = x - x.mean(), y - y.mean()
    squares = float(away @ away)
    if squares <= 0.0:
        return 0.0, float(goal.std(ddof=1)), np.inf
    slope = float(away @ goal) / squares
    rest = goal - slope * away
    residual = float(np.sqrt(rest @ rest / max(len(x) - 2, 1)))
    return slope, residual, residual / float(np.sqrt(squares))


def _probability(away: float, slope: float, residual: float, slope_error: float, n_trackers: int) -> float:
    from scipy.special import stdtr

    error = float(np.sqrt(2.0 * residual**2 + (slope_error * away) ** 2)) if away else 1.0
    # Without any error (all trackers on the line) the order of the scores decides.
    t = slope * away / error if error > 0.0 else np.sign(slope * away) * np.inf
    return float(stdtr(max(n_trackers - 2, 1), t)) if slope * away else 0.5


def _outside(study: Relation, scores: Floats) -> str:
    if np.shape(scores) != study.lowest.shape:
        raise UsageError(
            "a tracker needs a score on every dataset of the study",
            expected=str(len(study.lowest)),
            found=str(np.shape(scores)),
        )
    if np.isnan(scores).any():
        return "a score is undefined"
    wide = np.round(np.maximum(study.lowest - scores, scores - study.highest), DIGITS)
    d = int(wide.argmax())
    if wide[d] <= 0.0:
        return ""
    seen = f"{study.lowest[d]:.4g} to {study.highest[d]:.4g}, dataset {d + 1}"
    return f"the score {scores[d]:.4g} lies outside of the study's ({seen})"


def _needed(study: Relation, away: float, level: float) -> tuple[int | None, int | None]:
    """Dialogs, and trackers, at which the same scores would reach the level."""
    from scipy.special import ndtri

    allowed = (study.slope * away / ndtri(level)) ** 2
    own, of_slope = 2.0 * study.residual**2, (study.slope_error * away) ** 2
    trackers = dialogs = None
    if allowed > own:
        ratio = of_slope / (allowed - own)
        trackers = int(np.ceil(2 + max(ratio, 1.0) * (study.n_trackers - 2)))
    if study.noise is not None:
        by_dialogs = min(2.0 * (study.noise.returns + study.slope**2 * study.noise.score), own)
        left = allowed - (own - by_dialogs) - of_slope
        if left > 0.0 and by_dialogs > 0.0:
            dialogs = int(np.ceil(study.noise.n_dialogs * max(by_dialogs / left, 1.0)))
    return _at_most(dialogs), _at_most(trackers)


def _at_most(number: int | None) -> int | None:
    return None if number is None or number > MOST else number
