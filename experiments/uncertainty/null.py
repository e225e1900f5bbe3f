"""p-values of a metric that has nothing to do with the target: they should be spread evenly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import kstest

from experiments.uncertainty.worlds import draw_means, draw_truth, one_metric, rng_of_study
from extrinsic.correlation.permutation import draw_permutations, permutation_p


@dataclass(frozen=True)
class Cell:
    seed: int
    number: int
    population: str
    n_trackers: int
    interaction: float
    noise_r: float
    studies: int
    permutations: int


def run_cell(cell: Cell) -> list[dict[str, Any]]:
    world = one_metric(cell.population, cell.n_trackers, 0.0, cell.interaction, cell.noise_r)
    p = np.empty(cell.studies)
    for study in range(cell.studies):
        rng = rng_of_study(cell.seed, cell.number, study)
        values = draw_means(world, draw_truth(world, rng), rng)
        drawn = draw_permutations(f"{cell.number} {study}", cell.n_trackers, cell.permutations, cell.seed)
        p[study] = permutation_p(values[:1], values[1:], "pearson", "within", drawn)[0, 0]
    return [
        {
            "population": cell.population,
            "n_trackers": cell.n_trackers,
            "interaction": cell.interaction,
            "noise_r": cell.noise_r,
            "studies": cell.studies,
            "ks": float(kstest(p, "uniform").statistic),
            "at_05": float((p <= 0.05).mean()),
            "at_01": float((p <= 0.01).mean()),
        }
    ]
