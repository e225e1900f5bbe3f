"""Permutation test of two metrics against the same target: swap their scores (Deutsch, Dror and Roth 2021).

If two metrics are equally good, it does not matter which of them scored what. Both are standardised first;
then a coin decides which metric gets which score:

- `trackers`: one coin a tracker (PERM-SYSTEMS). It tests the difference for trackers drawn at random,
  with the dialogs fixed.
- `both`: one coin for each dialog of each tracker (PERM-BOTH). Swapped scores average out over many dialogs,
  so this tests the difference on these trackers only, and detects much smaller differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.panel import rng_of
from extrinsic.verdict.coefficients import Scope

Swapped = Literal["trackers", "both"]

BLOCK = 8_000_000
"""Coins, or products of two metrics, in memory at once."""

CACHED = 100_000
"""Products of two metrics at once: a few arrays of so many stay in the cache."""

SAME = 1e-9


def swapped_p(
    contributions: Sequence[Floats],
    target: Floats,
    scope: Scope,
    way: Swapped,
    n_permutations: int,
    identity: str,
    seed: int,
) -> Floats:
    """(n_metrics, n_metrics) two-sided p = (count + 1) / (n + 1) of each difference of two Pearson's r.

    contributions: for each dataset (n_metrics, n_trackers, n_dialogs), what every dialog adds to a metric's
    value, to first order (its jackknife).   target (n_datasets, n_trackers).
    """
    centre, length, values = _standardised(contributions, scope)
    goal = _centred(target, scope).ravel()
    goal /= np.linalg.norm(goal)
    own = values @ goal
    observed = np.abs(own[:, None] - own[None, :])
    rng = rng_of(f"swapping {way}", identity, seed)
    draws = _by_tracker(values, target.shape, n_permutations, rng)
    if way == "both":
        draws = _by_dialog(contributions, centre, length, n_permutations, rng)
    count, total = np.zeros(observed.shape), 0
    for kept in draws:
        step = max(1, CACHED // observed.size)
        for begin in range(0, len(kept), step):
            some = _centred(kept[begin : begin + step], scope)
            some = some.reshape(*some.shape[:2], -1)
            count += (_differences(some, values, goal) >= observed - SAME).sum(axis=0)
        total += len(kept)
    return np.asarray(np.where(np.isnan(observed), np.nan, (count + 1.0) / (total + 1.0)))


def _standardised(contributions: Sequence[Floats], scope: Scope) -> tuple[Floats, Floats, Floats]:
    """What is subtracted from the metrics' values (n_metrics, n_datasets, n_trackers), the lengths that they
    are divided by (n_metrics,), and what they are then (n_metrics, n_points)."""
    values = np.stack([part.sum(axis=2) for part in contributions], axis=1)
    centred = _centred(values, scope)
    length = np.linalg.norm(centred, axis=(1, 2))
    # A constant metric has no correlation to compare.
    length = np.where(length > SAME * np.abs(values).max(axis=(1, 2)), length, np.nan)
    return values - centred, length, (centred / length[:, None, None]).reshape(len(values), -1)


def _by_tracker(
    values: Floats, shape: tuple[int, ...], n_permutations: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """(size, n_metrics, n_datasets, n_trackers) what every metric keeps of its values, block by block."""
    n_trackers = shape[1]
    if 2**n_trackers - 1 <= n_permutations:
        # All ways to swap but the one that swaps nothing.
        coins = np.array(list(product((1.0, 0.0), repeat=n_trackers))[1:])
    else:
        coins = rng.integers(0, 2, (n_permutations, n_trackers), dtype=np.int8).astype(np.float64)
    for begin in range(0, len(coins), _step(values.size, len(values))):
        part = coins[begin : begin + _step(values.size, len(values))]
        yield part[:, None, None, :] * values.reshape(len(values), *shape)


def _by_dialog(
    contributions: Sequence[Floats],
    centre: Floats,
    length: Floats,
    n_permutations: int,
    rng: np.random.Generator,
) -> Iterator[Floats]:
    n_metrics, n_trackers, _ = contributions[0].shape
    step = _step(sum(part.shape[1] * part.shape[2] for part in contributions), n_metrics)
    for begin in range(0, n_permutations, step):
        size = min(step, n_permutations - begin)
        kept = np.empty((size, n_metrics, len(contributions), n_trackers))
        for dataset, part in enumerate(contributions):
            for tracker in range(n_trackers):
                coins = rng.integers(0, 2, (size, part.shape[2]), dtype=np.int8).astype(np.float64)
                shares = part[:, tracker] - centre[:, dataset, tracker, None] / part.shape[2]
                kept[:, :, dataset, tracker] = coins @ (shares / length[:, None]).T
        yield kept


def _step(size: int, n_metrics: int) -> int:
    return max(1, BLOCK // max(size, n_metrics**2))


def _differences(kept: Floats, values: Floats, goal: Floats) -> Floats:
    """(size, n_metrics, n_metrics) |r_a - r_b| after the swap of a and b; kept (size, n_metrics, n_points).

    The swapped a is b + kept_a - kept_b: its product with the target and its length follow from the products
    of what was kept and of the values, so that no pair has to be formed.
    """
    along = kept @ goal
    products = kept @ np.swapaxes(kept, 1, 2)
    squares = np.diagonal(products, axis1=1, axis2=2)
    with_values = kept @ values.T
    self_value = np.diagonal(with_values, axis1=1, axis2=2)
    own = values @ goal
    # Index [a, b] is metric a after the swap: b's scores where they were swapped, else a's own.
    above = own[None, None, :] + along[:, :, None] - along[:, None, :]
    distance = squares[:, :, None] + squares[:, None, :] - 2.0 * products
    length = 1.0 + distance + 2.0 * (with_values - self_value[:, None, :])
    r = above / np.sqrt(np.maximum(length, 1e-300))
    return np.asarray(np.abs(r - np.swapaxes(r, 1, 2)))


def _centred(values: Floats, scope: Scope) -> Floats:
    axes = -1 if scope == "within" else (-2, -1)
    return np.asarray(values - values.mean(axis=axes, keepdims=True))
