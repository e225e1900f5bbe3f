"""What choosing between systems by a metric earns, in the units of the target.

Two systems i and j of one dataset, of which the metric m puts one higher: who takes that one, rather than
tossing a coin, earns `sign(m_i - m_j) (y_i - y_j) / 2` of the target y. Over the pairs of a dataset that have
both numbers, and then over datasets,

    earned(m) = mean of sign(m_i - m_j) (y_i - y_j) / 2
    possible  = mean of |y_i - y_j| / 2           what a perfect choice earns, and what a coin loses
    lost(m)   = possible - earned(m)              between 0 and twice what is possible
    share(m)  = earned(m) / possible              Gini's correlation (Schechtman and Yitzhaki 1987)

Noise of y biases neither `earned` nor a difference of two metrics, since they are linear in y; a single odd
system is one of many pairs; the relation may be curved. Ties of a metric are decided by chance. A missing
number (NaN) takes its pairs away, a dataset in which no pair is left is left out of the mean.

>>> made = choices(np.array([[[1.0, 2.0, 3.0]], [[3.0, 1.0, 1.0]]]), np.array([[0.0, 4.0, 2.0]]))
>>> for row in (made.earned, made.possible, made.share):
...     print(row.round(3))
[ 0.667 -1.   ]
[1.333 1.333]
[ 0.5  -0.75]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.errors import UsageError
from extrinsic.panel import rng_of

BEST_OF = (3, 5, 10)
"""Out of this many systems one is chosen, beside choices between two."""

BLOCK = 4_000_000
"""Numbers of pairs in memory at once."""

N_SPLITS = 20
"""Halvings of the items over which `possible_corrected` is averaged."""

DECIMALS = 9
"""Values that agree in this many are equal."""


@dataclass(frozen=True, eq=False)
class Choices:
    """What choices by each metric earn and lose; (M,) arrays, NaN where no pair has both numbers.

    possible: over the pairs that have this metric.   lost_of: by k, how much less than the best of k systems
    the one is worth that the metric puts first of them.   lost_hard: the mean loss over the pairs whose
    targets differ by less than those of the median pair of their dataset.
    """

    earned: Floats
    possible: Floats
    lost: Floats
    share: Floats
    lost_of: dict[int, Floats]
    lost_hard: Floats


@dataclass(frozen=True, eq=False)
class PairSums:
    """For each system its pairs with all others: sums of what the choices earn, and how many pairs they are.

    earned (M, D, S) and possible, partners (M or 1, D, S), which do not depend on the metric where all is
    there. A sum over all systems counts each pair twice. Everything that is linear in pairs follows: means,
    means without a system, means with weights of systems.
    """

    earned: Floats
    possible: Floats
    partners: Floats


def choices(scores: Floats, values: Floats) -> Choices:
    """scores (M, D, S): of the metrics, higher is better; values (D, S): of the target; NaN is missing."""
    scores, values = checked(scores, values)
    sums = pair_sums(scores, values)
    pairs = sums.partners.sum(axis=-1)
    earned = mean_defined(ratio(sums.earned.sum(axis=-1), pairs))
    possible = np.broadcast_to(mean_defined(ratio(sums.possible.sum(axis=-1), pairs)), earned.shape).copy()
    # A perfect order loses 0, not the rounding error of two sums.
    lost = possible - earned
    lost = np.where(np.abs(lost) <= 1e-14 * np.abs(possible), 0.0, lost)
    ranks, perfect = Ranks.by(scores, values), Ranks.by(_targets_of(scores, values), values)
    lost_of = {k: mean_defined(perfect.best_of(k) - ranks.best_of(k)) for k in BEST_OF}
    return Choices(earned, possible, lost, ratio(earned, possible), lost_of, _lost_of_hard(scores, values))


def pair_sums(scores: Floats, values: Floats) -> PairSums:
    """In O(S log S) for a metric and dataset; shapes as for `choices`."""
    perfect = Ranks.by(_targets_of(scores, values), values)
    return PairSums(Ranks.by(scores, values).earned(), perfect.earned(), perfect.partners())


def checked(scores: Floats, values: Floats) -> tuple[Floats, Floats]:
    scores, values = np.asarray(scores, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if scores.ndim != 3 or scores.shape[1:] != values.shape:
        raise UsageError(
            "the metrics' scores and the target's values are not of the same datasets and systems",
            expected=f"scores (metrics, {', '.join(map(str, values.shape))})",
            found=str(scores.shape),
        )
    return scores, values


def _targets_of(scores: Floats, values: Floats) -> Floats:
    """(M or 1, D, S) the target as a metric, missing where the metric is; 1 if that is the same for all."""
    missing = np.isnan(scores)
    if (missing == missing[:1]).all():
        missing = missing[:1]
    return np.where(missing, np.nan, values)


@dataclass(frozen=True, eq=False)
class Ranks:
    """The systems in rising order of a metric; all (..., S), the missing ones last.

    order: of the systems.   values: in that order, less the dataset's mean, 0 for the missing.   first, stop:
    from where to where the metric is the same.   n (..., 1): the systems that have both numbers.   middle
    (D, 1): the dataset's mean.
    """

    order: Ints
    values: Floats
    first: Ints
    stop: Ints
    n: Ints
    middle: Floats

    @staticmethod
    def by(scores: Floats, values: Floats) -> Ranks:
        """scores (..., D, S), values (D, S)."""
        missing = np.isnan(scores) | np.isnan(values)
        # Pairs only depend on differences, which are exact for small numbers.
        middle = mean_defined(values, keepdims=True)
        scores = np.where(missing, np.nan, scores)
        order = np.argsort(scores, axis=-1, kind="stable")
        ordered = np.take_along_axis(scores, order, axis=-1)
        centred = np.take_along_axis(np.where(missing, 0.0, values - middle), order, axis=-1)
        begins = np.ones((*ordered.shape[:-1], ordered.shape[-1] + 1), dtype=bool)
        begins[..., 1:-1] = ordered[..., 1:] != ordered[..., :-1]
        first, stop = _spans(begins)
        return Ranks(order, centred, first, stop, (~missing).sum(axis=-1, keepdims=True), middle)

    def partners(self) -> Floats:
        """How many others each system has in pairs."""
        return self._by_system(np.broadcast_to(self.n - 1.0, self.order.shape))

    def centred(self) -> Floats:
        """The rank of each system less their mean; tied ones share theirs."""
        return self._by_system(np.asarray(0.5 * (self.first + self.stop - self.n), dtype=np.float64))

    def earned(self) -> Floats:
        """Sums over all others j of sign(m_i - m_j) (y_i - y_j) / 2."""
        sums = _running(self.values)
        total = sums[..., -1:]
        below, above = (
            np.take_along_axis(sums, self.first, -1),
            total - np.take_along_axis(sums, self.stop, -1),
        )
        n_above = self.n - self.stop
        return self._by_system(0.5 * (self.values * (self.first - n_above) - below + above))

    def best_of(self, k: int) -> Floats:
        """(..., D) the expected value of the system that comes first among k drawn without replacement.

        The system of rank r (from 0) of n does with probability C(r, k - 1) / C(n, k); tied systems share
        their ranks. NaN where there are fewer than k systems.
        """
        rank = np.arange(self.order.shape[-1])
        chance = np.where(rank < self.n, k / np.maximum(self.n, 1), 0.0)
        for before in range(k - 1):
            chance = chance * np.maximum(rank - before, 0) / np.maximum(self.n - 1 - before, 1)
        sums = _running(self.values)
        tied = np.take_along_axis(sums, self.stop, -1) - np.take_along_axis(sums, self.first, -1)
        expected = (chance * tied / (self.stop - self.first)).sum(axis=-1)
        return np.where(self.n[..., 0] >= k, expected + self.middle[..., 0], np.nan)

    def _by_system(self, ordered: Floats) -> Floats:
        """From the metric's order to that of the systems; 0 for the missing ones."""
        present = np.arange(self.order.shape[-1]) < self.n
        out = np.zeros_like(ordered)
        np.put_along_axis(out, self.order, np.where(present, ordered, 0.0), axis=-1)
        return out


def _spans(begins: Bools) -> tuple[Ints, Ints]:
    """(..., S + 1) where a span begins, the end among them -> (..., S) where that of each begins and ends."""
    size = begins.shape[-1] - 1
    position = np.arange(size)
    first = np.maximum.accumulate(np.where(begins[..., :-1], position, 0), axis=-1)
    ends = np.where(begins[..., 1:], position + 1, size)[..., ::-1]
    return first, np.minimum.accumulate(ends, axis=-1)[..., ::-1]


def _running(values: Floats) -> Floats:
    """(..., S) -> (..., S + 1) sums of the first 0, 1, ..., S values."""
    return np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)


def _lost_of_hard(scores: Floats, values: Floats) -> Floats:
    """(M,) the mean loss over pairs whose targets differ by less than those of the median pair."""
    n_metrics, n_datasets, n_systems = scores.shape
    left, right = np.triu_indices(n_systems, 1)
    lost = np.full((n_metrics, n_datasets), np.nan)
    size = max(BLOCK // max(len(left), 1), 1)
    for dataset in range(n_datasets):
        apart = values[dataset, left] - values[dataset, right]
        for begin in range(0, n_metrics, size):
            block = scores[begin : begin + size, dataset]
            sign = np.sign(block[:, left] - block[:, right])
            distance = np.where(np.isnan(sign), np.nan, np.abs(apart))
            hard = distance < _median(distance)
            wrong = np.where(hard, (np.abs(apart) - sign * apart) / 2.0, 0.0)
            lost[begin : begin + size, dataset] = ratio(wrong.sum(axis=-1), hard.sum(axis=-1))
    return mean_defined(lost)


def _median(values: Floats) -> Floats:
    """(..., n) -> (..., 1) the median of what is not missing; NaN if there is nothing."""
    n = values.shape[-1]
    if not n:
        return np.full((*values.shape[:-1], 1), np.nan)
    ordered = np.sort(values, axis=-1)
    there = (~np.isnan(values)).sum(axis=-1, keepdims=True)
    low, high = (
        np.take_along_axis(ordered, np.clip(at, 0, n - 1), -1) for at in ((there - 1) // 2, there // 2)
    )
    return np.asarray((low + high) / 2.0)


def mean_defined(values: Floats, keepdims: bool = False) -> Floats:
    """The mean over the last axis of what is not NaN; NaN where there is nothing."""
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(axis=-1, keepdims=keepdims)
    return ratio(total, there.sum(axis=-1, keepdims=keepdims))


def ratio(above: Floats, below: Floats | Ints) -> Floats:
    """above / below, NaN where that would divide by 0."""
    zero = below == 0
    return np.asarray(np.where(zero, np.nan, above / np.where(zero, 1, below)))


def possible_corrected(values: Floats, influence: Sequence[Floats], identity: str, seed: int) -> float | None:
    """What a perfect choice would earn if the target were known without noise; None where that is unknown.

    values (D, S); influence[d] (S, I_d): of the items of a dataset, by which its values with weights w of
    the items are values + influence @ (w - 1). identity, of target and items, and seed decide how items are
    split.

    |y_i - y_j| grows with noise. Split the items in halves: to choose with the returns of one and to count
    those of the other is too little, since the choice is noisy; to choose and count with the same half is
    too much. The geometric mean of the two is exact for normal targets and noise: with v the variance of
    the targets and e that of a half's noise, they are v / sqrt(v + e) and sqrt(v + e) times a constant.
    """
    if any(part.shape[-1] < 2 for part in influence):
        return None
    across, within = [], []
    for dataset, part in enumerate(influence):
        if np.isfinite(values[dataset]).sum() < 2:
            continue
        n_items = part.shape[-1]
        rng = rng_of("halves of the items", f"{identity} {dataset}", seed)
        signs = np.where(np.arange(n_items) < n_items // 2, 1.0, -1.0)
        shift = part @ rng.permuted(np.tile(signs, (N_SPLITS, 1)), axis=1).T
        # Rounded: the last bits of returns that are equal depend on the processor.
        first, second = (np.round(values[dataset] + sign * shift.T, DECIMALS) for sign in (1.0, -1.0))
        # Every split is a dataset here, and one half the only metric of the other.
        for chosen, counted in ((first, second), (second, first)):
            sums = pair_sums(chosen[None], counted)
            across.append(ratio(sums.earned.sum(axis=-1), sums.partners.sum(axis=-1)).mean())
            within.append(ratio(sums.possible.sum(axis=-1), sums.partners.sum(axis=-1)).mean())
    if not across or not np.isfinite([*across, *within]).all():
        return None
    return float(np.sqrt(max(np.mean(across), 0.0) * np.mean(within)))
