"""How often two metrics are told apart: by swapped trackers, swapped dialogs, resamples, and closed forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.uncertainty.worlds import (
    N_DATASETS,
    N_DIALOGS,
    draw_dialogs,
    draw_truth,
    draw_weights,
    resample_dialogs,
    rng_of_study,
    two_metrics,
)
from extrinsic.arrays import Floats
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.dependent import williams, zou_interval
from extrinsic.correlation.intervals import interval
from extrinsic.correlation.paired_permutation import swapped_p
from extrinsic.correlation.resampling import Sample, draw_trackers, resampled_correlations

LEVEL = 0.05


@dataclass(frozen=True)
class Cell:
    seed: int
    number: int
    n_trackers: int
    r_a: float
    r_b: float
    r_ab: float
    studies: int
    permutations: int
    resamples: int


def run_cell(cell: Cell) -> list[dict[str, Any]]:
    found: dict[str, list[bool]] = {}
    weights = draw_weights(cell.resamples, rng_of_study(cell.seed, cell.number))
    for study in range(cell.studies):
        for name, told in tests(cell, study, weights).items():
            found.setdefault(name, []).append(told)
    where = {"n_trackers": cell.n_trackers, "r_a": cell.r_a, "r_b": cell.r_b, "r_ab": cell.r_ab}
    rates = {name: float(np.mean(told)) for name, told in found.items()}
    return [{**where, "studies": cell.studies, **rates}]


def tests(cell: Cell, study: int, weights: Floats) -> dict[str, bool]:
    """Whether each of them tells the metrics apart, at one in twenty."""
    world = two_metrics("normal", cell.n_trackers, cell.r_a, cell.r_b, cell.r_ab)
    rng = rng_of_study(cell.seed, cell.number, study)
    dialogs = draw_dialogs(world, draw_truth(world, rng), rng)
    means = dialogs.mean(axis=-1)
    # All trackers swap alike over a dataset's dialogs, so that their sum is all it takes.
    contributions = {"trackers": means[:2, ..., None], "both": dialogs[:2] / N_DIALOGS}
    told = {}
    for way in ("trackers", "both"):
        parts = [contributions[way][:, dataset] for dataset in range(N_DATASETS)]
        p = swapped_p(parts, means[2], "within", way, cell.permutations, f"{cell.number} {study}", cell.seed)
        told[f"swapped {way}"] = bool(p[0, 1] <= LEVEL)
    r = correlate(means[:2], means[2:], "pearson", "within")[:, 0]
    told["resampled both"] = _resampled(cell, study, dialogs, means, weights)
    r_ab = float(correlate(means[:1], means[1:2], "pearson", "within")[0, 0])
    for name, n in (
        ("points", cell.n_trackers * N_DATASETS - (N_DATASETS - 1)),
        ("trackers", cell.n_trackers),
    ):
        told[f"williams, {name}"] = williams(float(r[0]), float(r[1]), r_ab, n).p <= LEVEL
        low, high = zou_interval(float(r[0]), float(r[1]), r_ab, n)
        told[f"zou, {name}"] = not low <= 0.0 <= high
    return told


def _resampled(cell: Cell, study: int, dialogs: Floats, means: Floats, weights: Floats) -> bool:
    """Whether the percentile interval of the difference, trackers and dialogs resampled, leaves out 0."""
    drawn = resample_dialogs(dialogs, weights)
    sample = Sample(means[:2], means[2:], drawn[:, :2], drawn[:, 2:])
    trackers = draw_trackers(f"{cell.number} {study}", cell.n_trackers, cell.resamples, cell.seed)
    r = resampled_correlations(sample, "pearson", "within", "both", trackers)[..., 0]
    low, high = interval(np.array(0.0), r[:, 0] - r[:, 1], None, "percentile", 1.0 - LEVEL)
    return bool(not low <= 0.0 <= high)
