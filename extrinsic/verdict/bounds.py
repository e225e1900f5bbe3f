"""How much a choice by each metric may lose with other systems of this kind: bounds for all metrics at once.

The systems of a study are a sample of those like them. Near-copies among them (families) are one draw: n
counts families, pairs are of systems of different families. Without a system, the loss of a metric changes;
n - 1 times that change is the influence of the system (Tukey 1958), and sums of squared influences are
squared errors. The bound of a metric is the larger of two, and what other metrics lend is added:

1. On the scale theta = log(q / (2 - q)), q = lost / possible, which is -2 artanh of Gini's correlation. Its
   error is that of the jackknife, averaged with that of a correlation of normal values, 4 / (n - 3) (Fisher
   1921), as if that was worth `PRIOR` more systems, and never smaller than the jackknife's. The quantile c is
   that of the largest of all metrics' errors (multipliers: Chernozhukov, Chetverikov and Kato 2013), made
   larger for the skewness of the logarithm of a small number (Johnson 1978): c + SKEW (c^2 - 1) /
   sqrt(n - 2). Back in points, the error of `possible` is added (Zou and Donner 2008).
2. A bootstrap-t in points over systems, of the same largest error (Hall 1988). It is the larger one where
   errors are skewed.
3. A metric that misjudges few systems, but those badly, may have met none of them. Other metrics of the study
   that do as well on the rest of the systems say how much that costs on average: `borrowed`.

`experiments/uncertainty` has what was simulated before this was chosen, and where it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.panel import rng_of
from extrinsic.verdict.choices import Ranks, checked, mean_defined, pair_sums, ratio
from extrinsic.verdict.names import counted

RECOMMENDED, AS_GOOD, WORSE, OPEN = "recommended", "as good", "worse", "open"
"""The groups of metrics."""

FEWEST = 6
"""With fewer systems (families, where they are given) nothing is promised."""

PRIOR = 30.0
"""Degrees of freedom that the error of a correlation of normal values is worth beside the jackknife's."""

SKEW = 0.4
"""How much the log of a loss is skewed."""

ALIKE = 0.5
"""The least correlation of what metrics misjudge in two systems that are near-copies."""

OPPOSITE, BLIND = 0.8, 0.995
"""How alike they are, beside the two systems that are most opposite; and how opposite those may be."""

FENCES, GROSS = 3.0, 0.3
"""A system is badly misjudged if its loss is this many quartile distances above the upper quartile, and above
the median by this share of what a coin loses."""

AS_WELL, AT_LEAST = 2.0, 0.1
"""A metric does as well as another that loses this many times as much, or this share of what a coin loses."""

LENT = 1.5
"""How much of what the others lose by bad misjudgements is added, of their mean."""

CAUTION = 1.25
"""`worse` is said of a metric that is this many times as far away as the largest error of all: the
recommended one is the best of many, in this study."""

LARGEST = 1.9
"""Of what a coin loses: a metric that loses twice as much orders all pairs wrongly."""

FEWEST_TO_ASK, MOST = 12, 10_000
"""How many more are needed is not said of fewer systems, since the best of several looks better than it is in
so few; and no one is told to add more than this."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """What may be promised of each of M metrics.

    bound (M,): an upper bound on what a choice loses among systems like these, that holds for all metrics of
    its family at once; NaN where nothing can be promised.   first: the recommended metric, of the smallest
    bound among the declared, or a preferred one that is as good; where nothing is promised, of the smallest
    loss.   groups: recommended, as good, worse, open.   reason: why nothing is promised, empty if something
    is.   needed: so many systems in all would bring the recommended metric's bound to half of what a coin
    loses; None where it is there, or is not to be reached.
    """

    bound: Floats
    first: int | None
    groups: tuple[str, ...]
    reason: str
    needed: int | None


@dataclass(frozen=True, eq=False)
class Losses:
    """lost, possible (M,) over pairs of unrelated systems, and the influence (U, M) of each unit on both.

    data_lost, data_possible (D, M): by how much each dataset lies above their mean.
    """

    lost: Floats
    possible: Floats
    on_lost: Floats
    on_possible: Floats
    data_lost: Floats
    data_possible: Floats

    def of(self, metrics: Ints) -> Losses:
        parts: dict[str, Floats] = {each.name: getattr(self, each.name) for each in fields(self)}
        return Losses(**{name: part[..., metrics] for name, part in parts.items()})


def losses(scores: Floats, values: Floats, families: Ints) -> Losses:
    """By leaving out each unit, exactly: its pairs are taken from the sums. families (S,): 0 to U - 1."""
    sums = pair_sums(scores, values)
    parts = [sums.earned, *np.broadcast_arrays(sums.possible, sums.partners, sums.earned)[:2]]
    parts = [part.copy() for part in parts]
    for family in np.flatnonzero(np.bincount(families) > 1):
        members = families == family
        own = pair_sums(scores[..., members], values[:, members])
        for part, less in zip(parts, (own.earned, own.possible, own.partners), strict=True):
            part[..., members] -= less
    unit = np.eye(int(families.max()) + 1)[families]
    whole = [part.sum(axis=-1) for part in parts]
    # A pair is counted with both of its systems: without a unit it is missing twice.
    without = [total[..., None] - 2.0 * (part @ unit) for total, part in zip(whole, parts, strict=True)]
    earned, possible = (ratio(whole[i], whole[2]) for i in (0, 1))
    left = [mean_defined(np.moveaxis(ratio(without[i], without[2]), 1, -1)) for i in (0, 1)]
    n = unit.shape[1]
    on_lost, on_possible = (
        (n - 1) * (each.mean(axis=1, keepdims=True) - each).T for each in (left[1] - left[0], left[1])
    )
    lost, all_possible = mean_defined(possible - earned), mean_defined(possible)
    data_lost = np.nan_to_num(possible - earned - lost[:, None]).T
    data_possible = np.nan_to_num(possible - all_possible[:, None]).T
    return Losses(lost, all_possible, on_lost, on_possible, data_lost, data_possible)


def near_copies(scores: Floats, values: Floats) -> Ints:
    """(S,) the group of every system, from 0: those that all metrics misjudge alike are one.

    What a metric says of a system beyond its value is the residual of ranks. Of systems that have nothing to
    do with each other residuals correlate as often above as below 0; so two are taken for copies if artanh
    of theirs is above `OPPOSITE` of the most negative one's, and they correlate at least `ALIKE`. With few
    metrics all systems are either alike or opposite, and nothing is seen.
    """
    from scipy.sparse.csgraph import connected_components

    seen, truth = (_unit(Ranks.by(each, values).centred()) for each in (scores, values[None]))
    apart = seen - (seen * truth).sum(axis=-1, keepdims=True) * truth
    # (S, M D) what is said of each system, of length 1.
    apart = _unit(apart.reshape(-1, values.shape[-1]).T)
    among = apart @ apart.T
    most = max(ALIKE, float(np.tanh(OPPOSITE * np.arctanh(min(-float(among.min()), BLIND)))))
    alike = (among > most) & (-among.min() < BLIND)
    return np.asarray(connected_components(alike, directed=False)[1])


def _unit(vectors: Floats) -> Floats:
    length = np.sqrt((vectors**2).sum(axis=-1, keepdims=True))
    return np.asarray(vectors / np.maximum(length, 1e-9))


def borrowed(made: Losses) -> Floats:
    """(M,) what bad misjudgements cost metrics that else do as well, on average, beyond each one's own."""
    lost, possible = np.maximum(made.lost, 0.0), made.possible
    # A pair counts for both of its systems: half of the influence is the system's own loss, less the mean.
    own = made.on_lost / 2.0
    low, middle, high = np.quantile(own, [0.25, 0.5, 0.75], axis=0)
    bad = (own > high + FENCES * (high - low)) & (own - middle > GROSS * possible)
    gross = 2.0 * np.where(bad, own - middle, 0.0).mean(axis=0)
    rest = np.maximum(lost - gross, 0.0)
    as_well = rest <= np.maximum(AS_WELL * rest, AT_LEAST * possible)[:, None]
    return np.asarray(np.maximum(as_well @ gross / as_well.sum(axis=1) - gross, 0.0))


def bounds(
    scores: Floats,
    values: Floats,
    *,
    declared: Bools,
    identity: str,
    seed: int,
    margin: float = 0.05,
    level: float = 0.95,
    draws: int = 2000,
    families: Ints | None = None,
    sampled: bool = False,
    prefer: Sequence[int] = (),
) -> Bounds:
    """scores (M, D, S), higher is better; values (D, S); declared (M,).

    families (S,): of near-copies; where none are given they are looked for.   sampled: the datasets are a
    sample, too, so that the bound is for others like them.   prefer: metrics to recommend if as good.
    """
    scores, values = checked(scores, values)
    bound, groups = np.full(len(scores), np.nan), np.full(len(scores), OPEN, dtype=object)
    missing = np.isnan(values) | np.isnan(scores).all(axis=0)
    present, used = ~missing.all(axis=0), ~missing.all(axis=1)
    scores, values = scores[:, used][..., present], values[used][:, present]
    n = int(present.sum())
    units: Ints = np.arange(n)
    if families is not None:
        _, units = np.unique(np.asarray(families)[present], return_inverse=True)
    elif n >= FEWEST:
        units = near_copies(scores, values)
    n_units = int(units.max()) + 1 if n else 0
    what = counted(n_units, "system")
    if n_units < n:
        of_families = counted(n_units, "family", "families") + " of systems"
        what = f"{what} (near-copies count once)" if families is None else of_families
    reason, first, needed = "", _least_lost(scores, values, declared), None
    if n_units < FEWEST:
        reason = f"{what} {'is' if n_units == 1 else 'are'} too few: at least {FEWEST} are needed"
    elif sampled and len(values) < 2:
        reason = "one dataset does not say how others would differ"
    else:
        made = losses(scores, values, units)
        kept = np.flatnonzero(np.isfinite(made.on_lost).all(axis=0) & (made.possible > 0))
        if not declared[kept].any():
            reason = "all systems have the same value, or no declared metric tells them apart"
            first = None
        else:
            spread = float(mean_defined(np.nanmax(values, axis=1) - np.nanmin(values, axis=1)))
            rng = rng_of("bounds", identity, seed)
            sample = _Sample(made.of(kept), spread, sampled, declared[kept], rng, level, draws)
            places = {m: i for i, m in enumerate(kept.tolist())}
            at, found = sample.recommended([places[m] for m in prefer if m in places], margin)
            first, units_needed = int(kept[at]), sample.needed(at)
            # In systems, where families stay as large as they are.
            needed = None if units_needed is None else -(-units_needed * n // n_units)
            if sample.bound[at] < sample.possible[at]:
                bound[kept], groups[kept] = sample.bound, found
            else:
                of_datasets = f" on {len(values)} datasets" if sampled else ""
                reason = f"{what}{of_datasets} say too little about others"
                if made.lost[first] >= made.possible[first]:
                    reason, first, needed = "every declared metric chooses worse than a coin", None, None
    if first is not None:
        groups[first] = RECOMMENDED
    return Bounds(bound, first, tuple(groups), reason, needed)


def _least_lost(scores: Floats, values: Floats, declared: Bools) -> int | None:
    sums = pair_sums(scores, values)
    pairs = sums.partners.sum(axis=-1)
    lost = mean_defined(ratio((sums.possible - sums.earned).sum(axis=-1), pairs))
    lost = np.where(declared & np.isfinite(lost), lost, np.inf)
    return int(np.argmin(lost)) if np.isfinite(lost).any() else None


class _Sample:
    """A study as a sample of n units (systems or families), and of its datasets if these are a sample."""

    def __init__(
        self,
        made: Losses,
        spread: float,
        sampled: bool,
        declared: Bools,
        rng: np.random.Generator,
        level: float,
        draws: int,
    ) -> None:
        self.made, self.spread, self.declared, self.level, self.rng = made, spread, declared, level, rng
        self.n, self.n_data = len(made.on_lost), len(made.data_lost) * sampled
        self.lost, self.possible = np.maximum(made.lost, 0.0), made.possible
        self.noise = np.hstack([rng.standard_normal((draws, size)) for size in (self.n, self.n_data)])
        self.lent = LENT * borrowed(made)
        seen = self.lost + self.gap(self.n)
        self.part = np.minimum(seen / self.possible, LARGEST)
        self.on_lost = self.rows(made.on_lost, made.data_lost)
        self.on_coin = self.rows(made.on_possible, made.data_possible) / self.possible
        self.on_theta = (self.on_lost / seen - self.on_coin) * 2.0 / (2.0 - self.part)
        # Of the declared metrics for these at once, of the others for all.
        self.multiples: Floats = np.empty((2, len(self.lost)))
        for family in (np.ones_like(declared), declared):
            c = self.largest(self.on_theta[:, family], PRIOR + self.n - 1)
            self.multiples[:, family] = np.array([[c], [self.largest_resampled(family)]])
        self.bound = self.points(self.n)

    def rows(self, influence: Floats, data: Floats) -> Floats:
        """(n + n_data, M) of influence, so that their squares sum to the squared error."""
        scaled = influence / np.sqrt(self.n * (self.n - 1))
        if not self.n_data:
            return np.asarray(scaled)
        return np.concatenate([scaled, data / np.sqrt(self.n_data * (self.n_data - 1))])

    def gap(self, n: int) -> float:
        """What one more exchange of neighbours among n would cost: a loss is not known better than that."""
        return self.spread / (n - 1) * 2.0 / (n * (n - 1))

    def largest(self, rows: Floats, df: float) -> float:
        """The quantile of the largest error of all metrics, each in units of its own, which df are known by.

        With normal weights the rows sum to an error, of all metrics at once (multipliers).
        """
        weights = self.noise.copy()
        for of, known in ((slice(self.n), df), (slice(self.n, None), self.n_data - 1.0)):
            if weights[:, of].size:
                weights[:, of] /= np.sqrt(self.rng.chisquare(known, len(weights)) / known)[:, None]
        z = weights @ (rows / np.maximum(np.sqrt((rows**2).sum(axis=0)), 1e-300))
        return float(np.quantile(z.max(axis=1), self.level))

    def largest_resampled(self, family: Bools) -> float:
        """The same of the bootstrap-t: the mean of resampled systems, in units of its resampled error."""
        weights = self.rng.multinomial(self.n, np.full(self.n, 1.0 / self.n), len(self.noise)) / self.n
        influence = self.made.on_lost[:, family]
        mean = weights @ influence
        variance = np.maximum(weights @ influence**2 - mean**2, 0.0) / (self.n - 1)
        return float(np.quantile((-mean / np.sqrt(variance + self.gap(self.n) ** 2)).max(axis=1), self.level))

    def recommended(self, preferred: Sequence[int], margin: float) -> tuple[int, Floats]:
        """A metric and the groups: of the smallest bound, or a preferred one that is as good.

        Where nothing can be promised, the one that loses least.
        """
        first = int(np.argmin(np.where(self.declared, self.bound, np.inf)))
        if not self.bound[first] < self.possible[first]:
            return int(np.argmin(np.where(self.declared, self.lost, np.inf))), np.empty(0)
        groups = self.groups(first, margin)
        for m in preferred:
            if m == first or (groups[m] == AS_GOOD and self.bound[m] < self.possible[m]):
                return m, self.groups(m, margin)
        return first, groups

    def points(self, n: int) -> Floats:
        """(M,) the bounds with n systems like these."""
        fewer = self.n * (self.n - 1) / (n * (n - 1))

        def variance(rows: Floats) -> Floats:
            squares = rows**2
            return np.asarray(fewer * squares[: self.n].sum(axis=0) + squares[self.n :].sum(axis=0))

        c, of_t = self.multiples
        jackknife, df = variance(self.on_theta), PRIOR + n - 1
        averaged = (PRIOR * 4.0 / (n - 3) + (n - 1) * jackknife) / df
        c = c + SKEW * (c**2 - 1.0) / np.sqrt(n - 2)
        theta = np.log(self.part / (2.0 - self.part)) + c * np.sqrt(np.maximum(jackknife, averaged))
        rise = np.log(2.0 / (1.0 + np.exp(-np.minimum(theta, 50.0))) / self.part)
        whole = np.sqrt(rise**2 + 4.0 * variance(self.on_coin))
        by_ratio = (self.lost + self.gap(n)) * np.exp(whole)
        by_resampling = self.lost + of_t * np.sqrt(variance(self.on_lost) + self.gap(n) ** 2)
        return np.asarray(np.maximum(by_ratio, by_resampling) + self.lent)

    def needed(self, m: int) -> int | None:
        """So many units bring the bound of a metric to half of what a coin loses, if it is above that."""

        def reached(n: int) -> bool:
            return bool(self.points(n)[m] <= self.possible[m] / 2.0)

        low, high = self.n, MOST
        if low < FEWEST_TO_ASK or reached(low) or not reached(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return high

    def groups(self, first: int, margin: float) -> Floats:
        """(M,) by how much more each metric loses than the recommended one, which is linear in the pairs."""
        apart = self.on_lost - self.on_lost[:, [first]]
        past = apart - margin * (self.on_coin * self.possible)[:, [first]]
        more = self.lost - self.lost[first]
        reach = [
            self.largest(rows, self.n - 1.0) * np.sqrt((rows**2).sum(axis=0) + self.gap(self.n) ** 2)
            for rows in (past, apart)
        ]
        good = more - margin * self.possible[first] + reach[0] <= 0
        worse = ~good & (more - CAUTION * reach[1] > 0)
        return np.where(good, AS_GOOD, np.where(worse, WORSE, OPEN)).astype(object)
