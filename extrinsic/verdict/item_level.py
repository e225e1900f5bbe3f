"""Trackers crossed with generators on the same dialogs: correlations within generator, and within dialog.

- `tracker`: a metric of each tracker against its mean outcome under each generator, the generators' means
  taken away. How good the generator is says nothing; what is left is the tracker's.
- `dialog`: what each dialog contributes to a metric against its outcome, the mean over trackers taken away
  within every generator and dialog. How hard the dialog is says nothing either.

Trackers, generators and dialogs are three samples of whole units: each unit has a weight, a cell the product
of its three, and everything follows from weighted sums of products. `crossed_interval` leaves out one unit at
a time.

>>> rng = np.random.default_rng(0)
>>> outcomes = (rng.random((3, 5, 40)) < 0.6).astype(float)
>>> weights = CrossedWeights.observed(5, 3, 40)
>>> level = dialog_sums(outcomes.mean(axis=0, keepdims=True), outcomes, weights)
>>> level.correlations.shape, level.slopes.round(3).tolist()
((1, 1), [[1.0]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.verdict.intervals import LARGEST, Interval, jackknife_influence, joint_degrees

BLOCK = 20_000_000
"""Numbers in memory at once."""

FLAT = 1e-10
"""Sums of squares that centring leaves of what was there, below which nothing varies but the last bits."""


@dataclass(frozen=True, eq=False)
class CrossedWeights:
    """How often each is drawn: trackers (n, n_trackers), generators (n, g), dialogs (n, n_dialogs)."""

    trackers: Floats
    generators: Floats
    dialogs: Floats

    @staticmethod
    def observed(n_trackers: int, n_generators: int, n_dialogs: int) -> CrossedWeights:
        """Everything once: n is 1."""
        return CrossedWeights(np.ones((1, n_trackers)), np.ones((1, n_generators)), np.ones((1, n_dialogs)))

    @staticmethod
    def without_each(sizes: Sequence[int], left: int) -> CrossedWeights:
        """Everything but one: n is sizes[left], of the numbers of trackers, generators and dialogs."""
        n = sizes[left]
        return CrossedWeights(
            *(1.0 - np.eye(n) if axis == left else np.ones((n, size)) for axis, size in enumerate(sizes))
        )


def crossed_interval(
    observed: Floats, left_out: Sequence[Floats], level: float = 0.95, is_correlation: bool = True
) -> Interval:
    """tanh(atanh(r) -+ t se) of r (k,) over crossed samples: left_out has r (n_units, k) without each unit.

    The squared errors of the samples add up; t has the degrees of freedom of their sum. What is no
    correlation is not transformed. Undefined where r is without some unit. How much it holds in simulated
    studies, beside percentiles of resampled units, is in experiments/multiwoz.

    >>> low, high = crossed_interval(np.array([0.5]), [np.array([[0.4], [0.5], [0.6], [0.5]])])
    >>> print(f"{low[0]:.3f} {high[0]:.3f}")
    -0.111 0.837
    """
    from scipy.special import stdtrit

    # A sample of one says nothing about others.
    left_out = [each for each in left_out if len(each) > 1]
    made = [jackknife_influence(observed, each, is_correlation) for each in left_out]
    parts = [each.scaled for each in made]
    error = np.sqrt(sum((each.error**2 for each in made), np.zeros(len(observed))))
    degrees = [joint_degrees([part[:, [i]] for part in parts]) for i in range(len(observed))]
    reach = stdtrit(np.array(degrees), (1.0 + level) / 2.0) * error
    low, high = made[0].value - reach, made[0].value + reach
    if not is_correlation:
        return Interval(low, high)
    # A coefficient of 1, with or without a unit, has no finite error.
    at_end = (np.abs(np.concatenate([observed[None], *left_out])) >= LARGEST).any(axis=0)
    low, high = (np.where(at_end, np.nan, np.tanh(end)) for end in (low, high))
    return Interval(low, high)


@dataclass(frozen=True, eq=False)
class LevelSums:
    """Sums of products after centring, for n resamples of k predictors.

    products (n, k): of predictor and outcome.   squares (n, k): of the predictor.   outcomes (n, 1): of the
    outcome.
    """

    products: Floats
    squares: Floats
    outcomes: Floats

    @property
    def correlations(self) -> Floats:
        """(n, k) Pearson's r; NaN where one side does not vary."""
        return _ratio(self.products, np.sqrt(self.squares * self.outcomes))

    @property
    def slopes(self) -> Floats:
        """(n, k) by how much the outcome changes with the predictor; NaN where it does not vary."""
        return _ratio(self.products, np.broadcast_to(self.squares, self.products.shape))


def _ratio(above: Floats, below: Floats) -> Floats:
    flat = below <= 0.0
    return np.asarray(np.where(flat, np.nan, above / np.where(flat, 1.0, below)))


def _left(centred: Floats, raw: Floats) -> Floats:
    """Sums of squares after centring; 0 where they are rounding errors of the raw ones."""
    return np.where(centred <= FLAT * raw, 0.0, centred)


def tracker_sums(metrics: Floats, outcomes: Floats, weights: CrossedWeights) -> LevelSums:
    """The level of trackers: metrics (n, k, n_trackers) by resample, outcomes (g, n_trackers, n_dialogs)."""
    means = np.stack(
        [(weights.dialogs @ part.T) / weights.dialogs.sum(axis=1)[:, None] for part in outcomes], axis=1
    )
    count = weights.trackers.sum(axis=1)
    centred, goal = (
        values - np.einsum("nt,nkt->nk", weights.trackers, values)[..., None] / count[:, None, None]
        for values in (metrics, means)
    )
    total = np.einsum("ng,ngt->nt", weights.generators, goal)
    squares, raw = (np.einsum("nt,nkt->nk", weights.trackers, part**2) for part in (centred, metrics))
    varied, of_outcomes = (
        np.einsum("nt,ng,ngt->n", weights.trackers, weights.generators, part**2) for part in (goal, means)
    )
    return LevelSums(
        np.einsum("nt,nkt,nt->nk", weights.trackers, centred, total),
        _left(squares, raw) * weights.generators.sum(axis=1)[:, None],
        _left(varied, of_outcomes)[:, None],
    )


def dialog_sums(predictors: Floats, outcomes: Floats, weights: CrossedWeights) -> LevelSums:
    """The level of dialogs: predictors (k, n_trackers, n_dialogs), outcomes (g, n_trackers, n_dialogs)."""
    k, n_trackers, n_dialogs = predictors.shape
    flat = predictors.reshape(k, -1)
    # (k n_dialogs, n_trackers): the sum over drawn trackers is one product.
    by_tracker = np.ascontiguousarray(np.swapaxes(predictors, 1, 2)).reshape(-1, n_trackers)
    size = max(1, BLOCK // (k * n_dialogs + 4 * n_trackers * n_dialogs + len(outcomes) * n_dialogs))
    parts = []
    for begin in range(0, len(weights.trackers), size):
        rows = slice(begin, begin + size)
        trackers, generators, dialogs = (
            part[rows] for part in (weights.trackers, weights.generators, weights.dialogs)
        )
        count = trackers.sum(axis=1)
        cells = trackers[:, :, None] * dialogs[:, None, :]
        summed = (generators @ outcomes.reshape(len(outcomes), -1)).reshape(cells.shape)
        squared = (generators @ (outcomes**2).reshape(len(outcomes), -1)).reshape(cells.shape)
        drawn = (by_tracker @ trackers.T).T.reshape(-1, k, n_dialogs)
        means = np.stack([trackers @ part for part in outcomes], axis=1) / count[:, None, None]
        mean = np.einsum("bg,bgd->bd", generators, means)
        products = (cells * summed).reshape(len(cells), -1) @ flat.T - np.einsum(
            "bkd,bd->bk", drawn, dialogs * mean
        )
        raw = cells.reshape(len(cells), -1) @ (flat**2).T
        squares = _left(raw - np.einsum("bkd,bd->bk", drawn**2, dialogs) / count[:, None], raw)
        of_outcomes = (cells * squared).sum(axis=(1, 2))
        varied = of_outcomes - count * np.einsum("bg,bgd,bd->b", generators, means**2, dialogs)
        varied = _left(varied, of_outcomes)
        parts.append((products, squares * generators.sum(axis=1)[:, None], varied[:, None]))
    return LevelSums(*(np.concatenate(part) for part in zip(*parts, strict=True)))
