"""How much a choice by each metric may lose with other systems of this kind: bounds for all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.panel import rng_of
from extrinsic.verdict.choices import checked, mean_defined, pair_sums, ratio

FEWEST = 6
"""With fewer systems (families, where they are given) nothing is promised."""

PRIOR = 30.0
"""Degrees of freedom that the error of a correlation of normal values is worth beside the jackknife's."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """What may be promised of each of M metrics.

    bound (M,): an upper bound on what a choice loses among systems like these, that holds for all metrics of
    its family at once; NaN where nothing can be promised.   first: the recommended metric, of the smallest
    bound among the declared, or where there is none, of the smallest loss.   groups: recommended, as good,
    worse, open.   reason: why nothing is promised, empty if something is.   needed: so many systems in all
    would bring the recommended metric's bound to half of what a coin loses.
    """

    bound: Floats
    first: int | None
    groups: tuple[str, ...]
    reason: str
    needed: int | None


@dataclass(frozen=True, eq=False)
class Losses:
    """lost, possible (M,) over pairs of unrelated systems, and the influence (U, M) of each unit on both."""

    lost: Floats
    possible: Floats
    on_lost: Floats
    on_possible: Floats


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
    earned, possible = (mean_defined(ratio(whole[i], whole[2])) for i in (0, 1))
    left = [mean_defined(np.moveaxis(ratio(without[i], without[2]), 1, -1)) for i in (0, 1)]
    n = unit.shape[1]
    on_lost, on_possible = (
        (n - 1) * (each.mean(axis=1, keepdims=True) - each).T for each in (left[1] - left[0], left[1])
    )
    return Losses(possible - earned, possible, on_lost, on_possible)


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
    """scores (M, D, S), higher is better; values (D, S); declared (M,); families (S,) of near-copies."""
    scores, values = checked(scores, values)
    n_metrics = len(scores)
    nothing = np.full(n_metrics, np.nan)
    present = ~np.isnan(values).all(axis=0) & ~np.isnan(scores).all(axis=(0, 1))
    scores, values = scores[..., present], values[:, present]
    n = int(present.sum())
    _, units = np.unique(
        np.arange(n) if families is None else np.asarray(families)[present], return_inverse=True
    )
    n_units = int(units.max()) + 1 if n else 0
    if n_units < FEWEST:
        what = "systems" if families is None else "families of systems"
        return Bounds(
            nothing,
            _least_lost(scores, values, declared),
            ("open",) * n_metrics,
            f"{n_units} {what} are too few: at least {FEWEST} are needed",
            None,
        )
    made = losses(scores, values, units)
    usable = np.isfinite(made.on_lost).all(axis=0) & (made.possible > 0)
    if not (usable & declared).any():
        return Bounds(
            nothing,
            None,
            ("open",) * n_metrics,
            "no declared metric has choices between systems of different value",
            None,
        )
    return _promise(
        made, usable, declared, units, values, rng_of("bounds", identity, seed), margin, level, draws
    )


def _least_lost(scores: Floats, values: Floats, declared: Bools) -> int | None:
    sums = pair_sums(scores, values)
    pairs = sums.partners.sum(axis=-1)
    lost = mean_defined(ratio((sums.possible - sums.earned).sum(axis=-1), pairs))
    lost = np.where(declared & np.isfinite(lost), lost, np.inf)
    return int(np.argmin(lost)) if np.isfinite(lost).any() else None


def _promise(
    made: Losses,
    usable: Bools,
    declared: Bools,
    units: Ints,
    values: Floats,
    rng: np.random.Generator,
    margin: float,
    level: float,
    draws: int,
) -> Bounds:
    n = made.on_lost.shape[0]
    columns = np.flatnonzero(usable)
    lost, possible = np.maximum(made.lost[columns], 0.0), made.possible[columns]
    on_lost, on_possible = made.on_lost[:, columns], made.on_possible[:, columns]
    spread = mean_defined(np.nanmax(values, axis=1) - np.nanmin(values, axis=1))
    gap = float(spread) / (n - 1) * 2 / (n * (n - 1))
    seen = lost + gap
    part = np.minimum(seen / possible, 1.9)
    theta = np.log(part / (2.0 - part))
    on_log_possible = on_possible / possible
    on_log = on_lost / seen - on_log_possible
    on_theta = on_log * 2.0 / (2.0 - part)
    jackknife = (on_theta**2).sum(axis=0) / (n * (n - 1))
    df = PRIOR + n - 1
    error = np.sqrt(np.maximum(jackknife, (PRIOR * 4.0 / (n - 3) + (n - 1) * jackknife) / df))
    noise = rng.standard_normal((draws, n))
    noise -= noise.mean(axis=1, keepdims=True)
    heavy = np.sqrt(rng.chisquare(n - 1, draws) / (n - 1))[:, None]
    scale = np.sqrt(rng.chisquare(df, draws) / df)[:, None]
    z = noise @ (on_theta / np.maximum(np.sqrt((on_theta**2).sum(axis=0)), 1e-300)) / scale
    bound = np.full(len(columns), np.inf)
    for family in (declared[columns], np.ones(len(columns), dtype=bool)):
        if not family.any():
            continue
        c = np.quantile(z[:, family].max(axis=1), level)
        c += 0.4 * (c * c - 1) / np.sqrt(n - 2)
        up = 2.0 / (1.0 + np.exp(-np.minimum(theta + c * error, 50.0)))
        rise = np.log(up / part)
        coin_error = 2.0 * np.sqrt((on_log_possible**2).sum(axis=0) / (n * (n - 1)))
        points = seen * np.exp(np.sqrt(rise**2 + coin_error**2))
        bound = np.where(np.isinf(bound), np.where(family, points, np.inf), bound)
    among = np.where(declared[columns], bound, np.inf)
    first = int(np.argmin(among))
    groups = np.full(len(columns), "open", dtype=object)
    difference = lost - lost[first]
    apart = on_lost - on_lost[:, [first]]
    past = apart - margin * on_possible[:, [first]]

    def errors(influence: Floats) -> Floats:
        return np.sqrt((influence**2).sum(axis=0) / (n * (n - 1)) + gap**2)

    quantiles = [
        np.quantile(
            (noise @ (each / np.maximum(np.sqrt((each**2).sum(axis=0)), 1e-300)) / heavy).max(axis=1), level
        )
        for each in (past, apart)
    ]
    good = difference - margin * possible[first] + quantiles[0] * errors(past) <= 0
    worse = ~good & (difference - 1.5 * quantiles[1] * errors(apart) > 0)
    reason = ""
    if bound[first] >= possible[first]:
        bound, good, worse = np.full(len(bound), np.nan), np.zeros_like(good), np.zeros_like(worse)
        first = int(np.argmin(np.where(declared[columns], lost, np.inf)))
        reason = f"{n} systems say too little about others"
    groups[good], groups[worse] = "as good", "worse"
    groups[first] = "recommended"
    whole, everywhere = np.full(len(usable), np.nan), np.full(len(usable), "open", dtype=object)
    whole[columns], everywhere[columns] = bound, groups
    return Bounds(whole, int(columns[first]), tuple(everywhere), reason, None)
