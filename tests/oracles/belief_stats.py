"""What the two belief scorers share: rows, plain sums, and reading an operating curve.

A ranked list is a list of (score, is_correct) pairs, best first. An operating point is a pair
(true accepts, false accepts) of counts; a curve lists its points from the lowest threshold up.
"""

from bisect import bisect_left
from typing import NamedTuple

CORRECT_ACCEPT_LIMITS = (("05", 0.05), ("10", 0.10), ("20", 0.20))

ROC_METRICS = (
    "roc.v1_eer",
    "roc.v1_eer_lee",
    "roc.v1_ca05",
    "roc.v1_ca10",
    "roc.v1_ca20",
    "roc.v2_ca05",
    "roc.v2_ca10",
    "roc.v2_ca20",
)


class Row(NamedTuple):
    """One line of a score table; value None means that there is no value."""

    component: str
    metric: str
    schedule: int
    label_scheme: str | None
    n: int
    value: float | None


def add_up(numbers):
    """Add from left to right, starting at 0.0, without compensation."""
    total = 0.0
    for number in numbers:
        total = total + number
    return total


def mean(numbers):
    """Plain mean, or None of nothing."""
    if len(numbers) == 0:
        return None
    return add_up(numbers) / len(numbers)


def rank_of_first_correct(ranked):
    """Rank (from 1) of the best-ranked correct item; None when no item is correct."""
    for position, (_, is_correct) in enumerate(ranked):
        if is_correct:
            return position + 1
    return None


def reciprocal_rank(ranked):
    """1 / rank of the first correct item, 0 when there is none."""
    rank = rank_of_first_correct(ranked)
    return 0.0 if rank is None else 1.0 / rank


def squared_distance(ranked):
    """From the scores to a vector with 1 at the correct position and 0 elsewhere.

    Correct hypotheses share that position; when none is listed, the position is there all the same, with
    score 0.
    """
    at_correct = 0.0
    distance = 0.0
    for score, is_correct in ranked:
        if is_correct:
            at_correct = at_correct + score
        else:
            distance = distance + (score - 0.0) ** 2
    return distance + (at_correct - 1.0) ** 2


def threshold_curve(scores, n_thresholds):
    """DSTC1's curve: thresholds min + i * ((max - min) / (n_thresholds - 1)), i = 0 ...

    `scores` is a list of (score of the top item, is it correct). A score is accepted when it is >= the
    threshold; at the last threshold nothing is.
    """
    right = sorted(score for score, is_correct in scores if is_correct)
    wrong = sorted(score for score, is_correct in scores if not is_correct)
    lowest = min(right + wrong)
    highest = max(right + wrong)
    step = (highest - lowest) / (n_thresholds - 1)
    curve = []
    for i in range(n_thresholds - 1):
        threshold = lowest + i * step
        true_accepts = len(right) - bisect_left(right, threshold)
        false_accepts = len(wrong) - bisect_left(wrong, threshold)
        curve.append((true_accepts, false_accepts))
    curve.append((0, 0))
    return curve


def item_curve(scores):
    """DSTC2's curve: one point at the first item of each run of equal scores, and one at the last item.

    Items are sorted by descending score (stable); a point accepts the items up to and including its own.
    """
    ordered = sorted(scores, key=lambda item: -item[0])
    curve = []
    true_accepts = false_accepts = 0
    for position, (score, is_correct) in enumerate(ordered):
        if is_correct:
            true_accepts += 1
        else:
            false_accepts += 1
        starts_a_run = position == 0 or score != ordered[position - 1][0]
        is_last = position == len(ordered) - 1
        if starts_a_run or is_last:
            curve.append((true_accepts, false_accepts))
    curve.reverse()
    return curve


def read_curve(curve, n_right, n_wrong):
    """All roc.* metrics of a curve: {metric: value or None}.

    FR = n_right - TA, TR = n_wrong - FA, N = n_right + n_wrong. A metric whose condition holds at no point
    of the curve has no value.
    """
    n = n_right + n_wrong
    values = dict.fromkeys(ROC_METRICS)
    for true_accepts, false_accepts in curve:
        false_rejects = n_right - true_accepts
        if false_rejects >= false_accepts:
            values["roc.v1_eer"] = (false_accepts + false_rejects) / n
            values["roc.v1_eer_lee"] = false_accepts / n
            break
    for name, limit in CORRECT_ACCEPT_LIMITS:
        for true_accepts, false_accepts in curve:
            if false_accepts / n <= limit:
                values["roc.v1_ca" + name] = true_accepts / n
                break
        if n_right == 0 or n_wrong == 0:
            continue
        for true_accepts, false_accepts in curve:
            if false_accepts / n_wrong <= limit:
                values["roc.v2_ca" + name] = true_accepts / n_right
                break
    return values
