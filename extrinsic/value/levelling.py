"""Values in fitted worlds, brought to one level over the datasets and trackers of a study."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.value.world_value import WORLD_SHARE, level_correction


@dataclass(frozen=True, eq=False)
class WorldValues:
    """One policy of every tracker of a study, by dataset.

    in_world, difference, trees (n_datasets, n_trackers): see WorldParts; trees: NaN where not estimated.
    played, correction, of_trees: per dataset (n_trackers, n_dialogs), the influence on each of them.
    """

    in_world: Floats
    difference: Floats
    trees: Floats
    played: tuple[Floats, ...]
    correction: tuple[Floats, ...]
    of_trees: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class Levelled:
    """world, mixed (n_datasets, n_trackers); of_world, of_mixed: per dataset (n_trackers, n_dialogs).

    shrinkage (n_datasets, n_trackers): the standard error of what shrinking leaves out. Of a difference with
    noise v that keeps the share k, k v is uncertain (the posterior variance), of which dialogs show k^2 v.
    """

    world: Floats
    mixed: Floats
    shrinkage: Floats
    of_world: tuple[Floats, ...]
    of_mixed: tuple[Floats, ...]


def level(values: WorldValues) -> Levelled:
    """Values whose level is corrected as far as the worlds of a study clearly have it wrong.

    With d = observed - V_M(logged) and m its median over the trackers of a dataset,
    world = V_M(policy) + (what of m is not noise) + (share of the tracker) (d - m). As much of m is kept
    as is not the noise of the logs (`level_correction`): a world that fits has in it what the log says of
    the level, and more dialogs than d. So it is of d - m (`kept_shares`). Medians, so that a degenerate
    tracker moves nobody else.
    mixed = m(world) + share (world - m(world)) + (1 - share) (trees - m(trees)), with medians of the dataset
    and the share WORLD_SHARE.
    """
    noise = np.array([np.sum(part.mean(axis=0) ** 2) for part in values.correction])
    levels = np.median(values.difference, axis=1)
    corrected = level_correction(levels, noise)
    own_noise = np.array([np.sum((part - part.mean(axis=0)) ** 2, axis=1) for part in values.correction])
    kept = kept_shares(_deviation(values.difference), own_noise)
    left_out = kept * (1.0 - kept) * own_noise + corrected.left_out[:, None]
    world = values.in_world + kept * _deviation(values.difference) + corrected.value[:, None]
    mixed = world + (1.0 - WORLD_SHARE) * (_deviation(values.trees) - _deviation(world))
    of_world, of_mixed = [], []
    for played, correction, trees, share, own in zip(
        values.played, values.correction, values.of_trees, corrected.own, kept, strict=True
    ):
        # To first order a dialog moves the median as it moves the mean.
        common = correction.mean(axis=0)
        influence = played + own[:, None] * (correction - common) + share * common
        apart = (trees - trees.mean(axis=0)) - (influence - influence.mean(axis=0))
        of_world.append(influence)
        of_mixed.append(influence + (1.0 - WORLD_SHARE) * apart)
    return Levelled(world, mixed, np.sqrt(np.maximum(left_out, 0.0)), tuple(of_world), tuple(of_mixed))


MEDIAN_CHI2 = 0.4549364231195724
"""Of the square of a standard normal number."""


def kept_shares(deviations: Floats, noise: Floats) -> Floats:
    """(n_datasets, n_trackers) the share of each tracker's own deviation that is not noise.

    noise: the variance of each deviation by chance. Random effects with one variance t2 between the trackers
    of a study: the median of the squared deviations is .455 (t2 + noise), whatever a degenerate tracker does.

    >>> kept_shares(np.array([[-1.0, 0.0, 1.0]]), np.full((1, 3), 100.0))
    array([[0., 0., 0.]])
    """
    between = max(float(np.median(deviations**2)) / MEDIAN_CHI2 - float(np.median(noise)), 0.0)
    return np.asarray(between / (between + np.maximum(noise, 1e-12)))


def _deviation(table: Floats) -> Floats:
    """(n_datasets, n_trackers) less the median of each dataset."""
    return np.asarray(table - np.median(table, axis=1, keepdims=True))
