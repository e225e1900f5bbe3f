"""Lines of returns on the scores of a chosen metric, without two trackers at a time: all pairs at once.

With values centred over all trackers, the sum of products without a set R, about the means of the c that are
left, is  S_xy - sum_R x y - (sum_R x)(sum_R y) / c:  nothing is fitted twice.

A metric that was chosen as the best of many fits the trackers it was chosen on better than others. So each of
the trackers that are left is predicted in turn by the metric and the line that the rest would have chosen;
the returns' slope on these predictions, from 0 to 1, shrinks the line, and what it misses is its residual
(van Houwelingen and le Cessie 1990).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.verdict.coefficients import DIGITS

TINY = 1e-12
"""What is left of a sum of squares, below this share of it, is rounding."""


class Lines(NamedTuple):
    """All (n_pairs,). metric: the one with the highest r over the other trackers, an index.

    slope, slope_error, residual: of the other trackers' returns on its scores, shrunk if it was chosen.
    """

    metric: Ints
    slope: Floats
    slope_error: Floats
    residual: Floats


def tracker_means(values: Floats) -> Floats:
    """(..., n_trackers) means over datasets of (..., n_datasets, n_trackers) less their dataset's mean."""
    return np.asarray(centred(values).mean(axis=-2))


def centred(values: Floats) -> Floats:
    return np.asarray(values - values.mean(axis=-1, keepdims=True))


def lines_without(scores: Floats, returns: Floats, first: Ints, second: Ints) -> Lines:
    """Without the trackers first and second (n_pairs,) of scores (n_metrics, n_datasets, n_trackers)."""
    n_left = scores.shape[-1] - 2
    chosen, chosen_by_rest = _choices(centred(scores), centred(returns), first, second)
    x, y = tracker_means(scores), tracker_means(returns)
    xx, xy, yy, _, _ = _sums(x, y, chosen, (first, second), n_left)
    slope, residual = _slope(xy, xx), np.zeros(0)
    if len(scores) > 1:
        kept = (np.arange(len(y)) != first[:, None]) & (np.arange(len(y)) != second[:, None])
        left = first[:, None], second[:, None], np.arange(len(y))[None, :]
        rest_xx, rest_xy, _, x_left, y_left = _sums(x, y, chosen_by_rest, left, n_left - 1)
        # Relative to the means of the rest.
        away = np.where(kept, x[chosen_by_rest, left[2]] + x_left / (n_left - 1), 0.0)
        goal = np.where(kept, y[left[2]] + y_left / (n_left - 1), 0.0)
        predicted = _slope(rest_xy, rest_xx) * away
        shrunk = np.clip(_slope((predicted * goal).sum(axis=1), (predicted**2).sum(axis=1)), 0.0, 1.0)
        missed = ((goal - shrunk[:, None] * predicted) ** 2).sum(axis=1)
        slope = shrunk * slope
    else:
        missed = np.maximum(yy - slope * xy, 0.0)
    residual = np.sqrt(missed / max(n_left - 2, 1))
    error = np.divide(residual, np.sqrt(xx), out=np.full(len(xx), np.inf), where=xx > 0.0)
    return Lines(chosen, slope, error, residual)


def _choices(x: Floats, y: Floats, first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """The metric with the highest r, without each pair (n_pairs,), and without any other (n_pairs, n)."""
    shapes = (len(first),), (len(first), x.shape[-1])
    chosen = [np.zeros(shape, dtype=np.int64) for shape in shapes]
    if len(x) == 1:
        return chosen[0], chosen[1]
    best = [np.full(shape, -np.inf) for shape in shapes]
    of_returns = _without(y.T @ y, first, second)
    for number, metric in enumerate(x):
        squares, products = _without(metric.T @ metric, first, second), _without(metric.T @ y, first, second)
        for step in range(2):
            norm = squares[step] * of_returns[step]
            # The sign with the square of r has the order of r, and no root.
            r = _slope(products[step] * np.abs(products[step]), norm)
            r = np.where(norm > 0.0, np.round(r, DIGITS), -np.inf)
            better = r > best[step]
            chosen[step][better] = number
            best[step] = np.where(better, r, best[step])
    return chosen[0], chosen[1]


def _without(products: Floats, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Sums about the means without each pair, and without any other: products (n, n) of centred values."""
    n_left, own, both = len(products) - 2, np.diag(products), products + products.T
    total, pair = own.sum(), own[first] + own[second]
    among = both[first, second]

    def rounded(sums: Floats) -> Floats:
        return np.asarray(np.where(np.abs(sums) > TINY * abs(total), sums, 0.0))

    of_pair = total - pair - (pair + among) / n_left
    rest = n_left - 1
    of_three = (total - pair - (pair + among) / rest)[:, None] - own * (1.0 + 1.0 / rest)
    of_three -= (both[first] + both[second]) / rest
    return rounded(of_pair), rounded(of_three)


def _sums(
    x: Floats, y: Floats, metric: Ints, left: tuple[Ints, ...], n: int
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Sums of squares and products of tracker means without `left`, n others; and the sums of those left."""
    of_x, of_y = [x[metric, tracker] for tracker in left], [y[tracker] for tracker in left]
    x_left, y_left = np.sum(np.broadcast_arrays(*of_x), axis=0), np.sum(np.broadcast_arrays(*of_y), axis=0)

    def sums(whole: Floats, parts: list[Floats], corrected: Floats) -> Floats:
        made = whole - sum(parts, np.zeros(())) - corrected / n
        return np.asarray(np.where(np.abs(made) > TINY * np.abs(whole), made, 0.0))

    return (
        sums((x**2).sum(axis=1)[metric], [a**2 for a in of_x], x_left**2),
        sums((x @ y)[metric], [a * b for a, b in zip(of_x, of_y, strict=True)], x_left * y_left),
        sums((y**2).sum() * np.ones(np.shape(metric)), [b**2 for b in of_y], y_left**2),
        x_left,
        y_left,
    )


def _slope(products: Floats, squares: Floats) -> Floats:
    """products / squares, 0 where nothing varies."""
    return np.divide(products, squares, out=np.zeros(np.shape(squares)), where=squares > 0.0)
