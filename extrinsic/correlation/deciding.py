"""Decide or refuse: is the policy on the first of two trackers the better one, by their scores alone?

A study relates scores x to returns y of trackers (each dataset centred, then the mean over datasets):
y = slope x + e. For two trackers that the study has not seen, with scores that differ by d,

    P(first is better) = F_t( slope d / sqrt(2 s^2 + se(slope)^2 d^2) ),      n - 2 degrees of freedom,

the predictive distribution of a difference in simple regression: s^2 is the variance of e, the part of a
tracker's return that the metric does not see. `calibration` leaves out every two trackers in turn and
compares what is said of them with what is true: of pairs given 80 to 90 %, 80 to 90 % should be right. A
metric that has to be chosen is chosen without them, and the line shrunk (`left_out_lines`). Scores outside of
those of the study are refused: the relation is not known to hold there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.correlation.left_out_lines import lines_without, tracker_means
from extrinsic.errors import UsageError
from extrinsic.verdict.coefficients import DIGITS, is_flat

FEWEST_TRACKERS = 5
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MOST_PAIRS = 1000
"""Of more pairs, evenly spread ones are left out: their shares are sure enough."""

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

    lowest, highest (n_datasets,): the scores that the study has seen.   metric: the index of the chosen one.
    refusal: why nothing can be decided.
    """

    slope: float
    slope_error: float
    residual: float
    n_trackers: int
    lowest: Floats
    highest: Floats
    noise: DialogNoise | None = None
    metric: int = 0
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

    Of scores (n_metrics, n_datasets, n_trackers), higher is better, the metric with the highest r is chosen,
    and the line is shrunk by what the choice costs (`left_out_lines`).

    >>> scores = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
    >>> line = relation(scores, 10.0 * scores + np.array([[0.1, -0.1, 0.0, 0.0, -0.1, 0.1]]))
    >>> print(f"{line.slope:.1f} {line.residual:.2f}")
    10.0 0.10
    >>> decision = decide(line, np.array([0.5]), np.array([0.3]))
    >>> print(decision.side, f"{decision.probability:.3f}")
    first 1.000
    >>> print(decide(line, np.array([0.9]), np.array([0.3])).reason)
    a score of 0.9 is beyond those that the relation rests on (0.1 to 0.6, dataset 1)
    """
    several = scores[None] if scores.ndim == 2 else scores
    if several.ndim != 3 or several.shape[1:] != returns.shape:
        raise UsageError(
            "scores and returns must be of the same datasets and trackers",
            expected="([n_metrics,] n_datasets, n_trackers) and (n_datasets, n_trackers)",
            found=f"{scores.shape} and {returns.shape}",
        )
    n_trackers = returns.shape[1]
    refusal = ""
    if n_trackers < FEWEST_TRACKERS:
        refusal = f"not decided: {n_trackers} trackers, at least {FEWEST_TRACKERS} are needed"
    elif np.isnan(several).any() or np.isnan(returns).any():
        refusal = "a score or a return of the study is undefined"
    elif is_flat(several, "within").all():
        refusal = "the metric is the same for all trackers of the study"
    if refusal:
        ends = several[0].min(axis=1), several[0].max(axis=1)
        return Relation(np.nan, np.nan, np.nan, n_trackers, *ends, noise, refusal=refusal)
    # Two trackers at the mean add nothing to any sum: leaving them out leaves all of the study.
    padded = [np.concatenate([v, *2 * [v.mean(axis=-1, keepdims=True)]], axis=-1) for v in (several, returns)]
    last = np.array([n_trackers])
    lines = lines_without(padded[0], padded[1], last, last + 1)
    metric = int(lines.metric[0])
    lowest, highest = several[metric].min(axis=1), several[metric].max(axis=1)
    line = float(lines.slope[0]), float(lines.slope_error[0]), float(lines.residual[0])
    return Relation(*line, n_trackers, lowest, highest, noise, metric)


def decide(study: Relation, first: Floats, second: Floats, level: float = 0.95) -> Decision:
    """From the scores (n_datasets,) of two trackers by the study's metric, on its datasets: `relation`."""
    refusal = study.refusal or _outside(study, first) or _outside(study, second)
    if refusal:
        return Decision(Side.REFUSED, np.nan, refusal)
    away = float(np.round(np.mean(first - second), DIGITS))
    slope, residual, error = (np.array([part]) for part in (study.slope, study.residual, study.slope_error))
    probability = float(_probability(np.array([away]), slope, residual, error, study.n_trackers)[0])
    if max(probability, 1.0 - probability) >= level:
        return Decision(Side.FIRST if probability > 0.5 else Side.SECOND, probability)
    reason = f"the chance of the likelier one is {max(probability, 1.0 - probability):.2f}, below {level:g}"
    return Decision(Side.NOT_DECIDED, probability, reason, *_needed(study, away, level))


def calibration(scores: Floats, returns: Floats, edges: Sequence[float] = EDGES) -> Calibration:
    """What `decide` says of every two trackers when neither the relation nor the choice of a metric saw them.

    scores (n_datasets, n_trackers), or (n_metrics, n_datasets, n_trackers): of several metrics the one with
    the highest r over the other trackers, for each pair anew (higher is better).
    returns (n_datasets, n_trackers).

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(2, 30))
    >>> curve = calibration(scores, scores + rng.normal(size=(2, 30)))
    >>> curve.n_pairs, sum(each.n_pairs for each in curve.bins)
    (435, 435)
    """
    several = scores[None] if scores.ndim == 2 else scores
    n = returns.shape[-1]
    first, second = np.tril_indices(n, -1)
    if len(first) > MOST_PAIRS:
        kept = np.linspace(0, len(first) - 1, MOST_PAIRS).astype(np.int64)
        first, second = first[kept], second[kept]
    lines = lines_without(several, returns, first, second)
    x, y = tracker_means(several), tracker_means(returns)
    away = np.round(x[lines.metric, first] - x[lines.metric, second], DIGITS)
    probability = _probability(away, lines.slope, lines.residual, lines.slope_error, n - 2)
    better = np.sign(np.round(y[first] - y[second], DIGITS))
    right = 0.5 + 0.5 * np.sign(probability - 0.5) * better
    return _curve(np.maximum(probability, 1.0 - probability), right, edges)


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


def _probability(
    away: Floats, slope: Floats, residual: Floats, slope_error: Floats, n_trackers: int
) -> Floats:
    """That the one whose score is higher by `away` is the better one."""
    from scipy.special import stdtr

    rise = np.asarray(slope * away)
    known = rise != 0.0
    error = np.sqrt(2.0 * residual**2 + np.where(known, slope_error, 0.0) ** 2 * away**2)
    # Without any error (all trackers on the line) the order of the scores decides.
    t = np.divide(rise, error, out=np.copysign(np.inf, rise), where=error > 0.0)
    return np.asarray(np.where(known, stdtr(max(n_trackers - 2, 1), t), 0.5))


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
    return f"a score of {scores[d]:.4g} is beyond those that the relation rests on ({seen})"


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
