"""The text about Lee's wording follows from the committed tables, and a dictionary can be computed again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.lee_wording.__main__ import FOLDER, METHODS, PRESETS, World
from experiments.lee_wording.tables import Sparsified
from experiments.selection import Selection
from extrinsic.policy.behaviour import fit_behaviour
from extrinsic.tables import read_rows


def test_dictionaries_of_a_cell_are_those_of_the_table() -> None:
    seed, tracker, features = 201, "baseline", "compact"
    world, preset = World(seed, tracker, features), PRESETS[features]
    behaviour = fit_behaviour(preset.logistic, world.transitions)
    table = Selection(read_rows(FOLDER / "sparsification.csv", Sparsified))
    for method in METHODS:
        policy = replace(preset.learner, sparsification=method).fit(world.transitions, behaviour)
        (row,) = table.where(seed=seed, tracker=tracker, features=features, sparsification=method).rows
        assert (row.points, row.kernels) == (len(world.transitions), len(policy.basis))
        assert row.residual == pytest.approx(policy.fit.largest_residual, abs=1e-3)
