"""How often intervals of a correlation hold the correlation of the population, and how wide they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.uncertainty.worlds import (
    N_DATASETS,
    World,
    draw_dialogs,
    draw_truth,
    draw_weights,
    one_metric,
    resample_dialogs,
    rng_of_study,
)
from extrinsic.arrays import Floats
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.dependent import fisher_interval
from extrinsic.correlation.influence import without_each
from extrinsic.correlation.intervals import METHODS, interval, jackknife_interval
from extrinsic.correlation.resampling import WAYS, Sample, draw_trackers, resampled_correlations

LEVEL = 0.95


@dataclass(frozen=True)
class Cell:
    seed: int
    number: int
    population: str
    n_trackers: int
    r: float
    studies: int
    resamples: int


def run_cell(cell: Cell) -> list[dict[str, Any]]:
    """A row for every way and method."""
    world = one_metric(cell.population, cell.n_trackers, cell.r)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    observed = []
    weights = draw_weights(cell.resamples, rng_of_study(cell.seed, cell.number))
    for study in range(cell.studies):
        sample = draw_sample(cell, study, weights)
        r = correlate(sample.metrics, sample.targets, "pearson", "within")
        observed.append(float(r[0, 0]))
        for name, ends in intervals(cell, study, sample, r):
            found.setdefault(name, []).append(ends)
    where = {"population": cell.population, "n_trackers": cell.n_trackers, "r": cell.r}
    where |= {"truth": world.truth(), "truth_here": world.truth_here(), "mean_r": float(np.mean(observed))}
    return [
        {**where, "way": way, "method": method} | _summary(np.array(ends), world)
        for (way, method), ends in found.items()
    ]


def draw_sample(cell: Cell, study: int, weights: Floats) -> Sample:
    """The values observed, and on resamples of dialogs."""
    world = one_metric(cell.population, cell.n_trackers, cell.r)
    rng = rng_of_study(cell.seed, cell.number, study)
    dialogs = draw_dialogs(world, draw_truth(world, rng), rng)
    drawn = resample_dialogs(dialogs, weights)
    means = dialogs.mean(axis=-1)
    return Sample(means[:1], means[1:], drawn[:, :1], drawn[:, 1:])


def intervals(
    cell: Cell, study: int, sample: Sample, r: Floats
) -> Iterator[tuple[tuple[str, str], tuple[float, float]]]:
    """Of every way to resample and every method, and three without resamples."""
    trackers = draw_trackers(f"{cell.number} {study}", cell.n_trackers, cell.resamples, cell.seed)
    left_out = without_each(sample.metrics, sample.targets, "pearson", "within")
    for way in WAYS:
        resampled = resampled_correlations(sample, "pearson", "within", way, trackers)
        for method in METHODS:
            units = None if way == "dialogs" else left_out
            low, high = interval(r, resampled, units, method, LEVEL)
            yield (way, method), (float(low[0, 0]), float(high[0, 0]))
    points = cell.n_trackers * N_DATASETS - (N_DATASETS - 1)
    yield ("closed form", "fisher, points"), fisher_interval(float(r[0, 0]), points, LEVEL)
    yield ("closed form", "fisher, trackers"), fisher_interval(float(r[0, 0]), cell.n_trackers, LEVEL)
    low, high = jackknife_interval(r, left_out, LEVEL)
    yield ("closed form", "jackknife"), (float(low[0, 0]), float(high[0, 0]))


def _summary(ends: Floats, world: World) -> dict[str, Any]:
    """coverage: of the truth; coverage_here: of what endless trackers with as few dialogs would show. below,
    above: how often the truth lies on either side of the interval."""
    low, high = ends.T
    below, above = world.truth() < low, world.truth() > high
    here = (low <= world.truth_here()) & (world.truth_here() <= high)
    return {
        "studies": len(ends),
        "coverage": float((~below & ~above).mean()),
        "coverage_here": float(here.mean()),
        "width": float((high - low).mean()),
        "below": float(below.mean()),
        "above": float(above.mean()),
    }
