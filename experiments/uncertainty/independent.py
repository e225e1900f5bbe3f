"""Zou's interval where it should hold: independent draws from a normal distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.uncertainty.worlds import rng_of_study
from extrinsic.correlation.coefficients import correlate
from extrinsic.correlation.dependent import zou_interval


@dataclass(frozen=True)
class Cell:
    seed: int
    number: int
    n_points: int
    r_a: float
    r_b: float
    r_ab: float
    studies: int


def run_cell(cell: Cell) -> list[dict[str, Any]]:
    correlations = [[1.0, cell.r_ab, cell.r_a], [cell.r_ab, 1.0, cell.r_b], [cell.r_a, cell.r_b, 1.0]]
    factor = np.linalg.cholesky(np.array(correlations))
    rng = rng_of_study(cell.seed, cell.number)
    points = factor @ rng.normal(size=(cell.studies, 3, cell.n_points))
    r = correlate(points[:, :, None], points[:, :, None], "pearson", "pooled")
    ends = np.array([zou_interval(one[0, 2], one[1, 2], one[0, 1], cell.n_points) for one in r])
    inside = (ends[:, 0] <= cell.r_a - cell.r_b) & (cell.r_a - cell.r_b <= ends[:, 1])
    return [
        {
            "n_points": cell.n_points,
            "r_a": cell.r_a,
            "r_b": cell.r_b,
            "r_ab": cell.r_ab,
            "studies": cell.studies,
            "coverage": float(inside.mean()),
            "width": float((ends[:, 1] - ends[:, 0]).mean()),
        }
    ]
