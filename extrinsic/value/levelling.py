"""Values in fitted worlds, brought to one level over the datasets and trackers of a study."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.value.world_value import WORLD_SHARE


@dataclass(frozen=True, eq=False)
class WorldValues:
    """One policy of every tracker of a study, by dataset.

    in_world, difference, trees (n_datasets, n_trackers): see WorldParts; trees: NaN where not estimated.
    played, correction, of_trees: per dataset (n_trackers, n_dialogs), the influence on each of them.
    corrected: the logged policy itself was run, so that its level is to be trusted.
    """

    in_world: Floats
    difference: Floats
    trees: Floats
    played: tuple[Floats, ...]
    correction: tuple[Floats, ...]
    of_trees: tuple[Floats, ...]
    corrected: bool


@dataclass(frozen=True, eq=False)
class Levelled:
    """world, mixed (n_datasets, n_trackers); of_world, of_mixed: per dataset (n_trackers, n_dialogs)."""

    world: Floats
    mixed: Floats
    of_world: tuple[Floats, ...]
    of_mixed: tuple[Floats, ...]


def level(values: WorldValues) -> Levelled:
    """Values whose level the study shares as far as its datasets agree; deviations are the trackers' own.

    With d = observed - V_M(logged) and m its median over the trackers of a dataset,
    world = V_M(policy) + (level of the dataset) + (d - m). The level is m, shrunk to the study's
    (`shrunk_levels`): of one dataset alone it is as noisy as its observed return. Medians, so that a
    degenerate tracker moves nobody else.
    Without the logged policy itself there is no level, only the tracker's own deviation.
    mixed = m(world) + 3/4 (world - m(world)) + 1/4 (trees - m(trees)), with medians of the dataset.
    """
    noise = np.array([np.sum(part.mean(axis=0) ** 2) for part in values.correction])
    levels, own_share = shrunk_levels(np.median(values.difference, axis=1), noise)
    if not values.corrected:
        levels, own_share = np.zeros_like(levels), np.zeros_like(own_share)
    world = values.in_world + _deviation(values.difference) + levels[:, None]
    mixed = world + (1.0 - WORLD_SHARE) * (_deviation(values.trees) - _deviation(world))
    of_world, of_mixed = [], []
    for played, correction, trees, share in zip(
        values.played, values.correction, values.of_trees, own_share, strict=True
    ):
        # To first order a dialog moves the median as it moves the mean.
        influence = played + correction - (1.0 - share) * correction.mean(axis=0)
        apart = (trees - trees.mean(axis=0)) - (influence - influence.mean(axis=0))
        of_world.append(influence)
        of_mixed.append(influence + (1.0 - WORLD_SHARE) * apart)
    return Levelled(world, mixed, tuple(of_world), tuple(of_mixed))


def shrunk_levels(levels: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """(n,) each level shrunk to their mean, and the share of it that is its own.

    noise (n,): the variance of each level by chance. A random-effects model (DerSimonian & Laird 1986): with
    weights w = 1 / noise, Q = sum w (x - mean)^2 is n - 1 by chance, and what exceeds it is the variance
    between datasets, t2 = (Q - (n - 1)) / (sum w - sum w^2 / sum w). A level keeps t2 / (t2 + noise) of its
    own deviation.

    >>> shrunk_levels(np.array([1.0, 3.0]), np.array([100.0, 100.0]))[0]
    array([2., 2.])
    """
    weights = 1.0 / np.maximum(noise, 1e-12)
    mean = np.sum(weights * levels) / weights.sum()
    excess = np.sum(weights * (levels - mean) ** 2) - (len(levels) - 1)
    scale = weights.sum() - np.sum(weights**2) / weights.sum()
    between = max(excess / scale, 0.0) if len(levels) > 1 else np.inf
    if np.isinf(between):
        return levels.copy(), np.ones_like(levels)
    random = 1.0 / (between + np.maximum(noise, 1e-12))
    centre = np.sum(random * levels) / random.sum()
    own = between / (between + noise)
    # Of the common level, each has its part of the weights.
    return centre + own * (levels - centre), own + (1.0 - own) * random / random.sum()


def _deviation(table: Floats) -> Floats:
    """(n_datasets, n_trackers) less the median of each dataset."""
    return np.asarray(table - np.median(table, axis=1, keepdims=True))
