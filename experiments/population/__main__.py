"""`python -m experiments.population [--runs DIR]`: does what to measure depend on whether the policy learns?

Two hundred made trackers (configs/population.toml), and the cells of a registered study of recalibrated
copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np

from experiments.main import Made
from experiments.verdicts import Case, MetricStudy
from experiments.worlds.cells import METRICS, Cell, cells_panel
from extrinsic.arrays import Floats
from extrinsic.panel import Panel
from extrinsic.verdict.choices import choices
from extrinsic.verdict.intervals import jackknife_interval

FOLDER = Path(__file__).parent
WORLDS = ("bus", "restaurants")
L2, ACCURACY = (list(METRICS).index(name) for name in ("l2", "accuracy"))


class Contrast(msgspec.Struct, frozen=True):
    """What registered.toml names, in r: a difference, with its interval; kept as version 156985d made it."""

    world: str
    group: str
    what: str
    value: float
    low: float
    high: float


class PointContrast(msgspec.Struct, frozen=True, kw_only=True):
    """By how much L2's share of a perfect choice exceeds accuracy's.

    low, high: by leaving out each base tracker with its copies.
    """

    world: str
    group: str
    policy: str
    value: float
    low: float
    high: float


def base_of(tracker: str) -> str:
    """What a recalibrated copy is a copy of; a tracker is its own base."""
    return tracker.removeprefix("recalibrated(").rpartition(", temperature=")[0] or tracker


def leads(panel: Panel) -> Floats:
    """(3,) L2's lead over accuracy under the learned policy, the fixed one, and the difference of both."""
    made = [choices(panel.oriented()[[L2, ACCURACY]], values).share for values in panel.values[:2]]
    learned, fixed = (float(share[0] - share[1]) for share in made)
    return np.array([learned, fixed, fixed - learned])


def contrast_rows(panels: Mapping[str, Panel]) -> Iterator[PointContrast]:
    for world in WORLDS:
        for group in ("all", "without copies"):
            panel = panels[world]
            if group != "all":
                panel = panel.take(systems=[i for i, name in enumerate(panel.names) if base_of(name) == name])
            bases = [base_of(name) for name in panel.names]
            left_out = [
                leads(panel.take(systems=[i for i, each in enumerate(bases) if each != base]))
                for base in dict.fromkeys(bases)
            ]
            observed = leads(panel)
            low, high = jackknife_interval(observed, np.array(left_out), is_correlation=False)
            for place, policy in enumerate(("learned", "fixed", "fixed less learned")):
                yield PointContrast(
                    world=world,
                    group=group,
                    policy=policy,
                    value=float(observed[place]),
                    low=float(low[place]),
                    high=float(high[place]),
                )


def stored_panels(folder: Path) -> Mapping[str, Panel]:
    return {world: cells_panel(folder / "cells.csv", world, base_of) for world in WORLDS}


def contrasts(panels: Mapping[str, Panel], arguments: object) -> Made:
    yield "point_contrasts", list(contrast_rows(panels))


STUDY = MetricStudy(
    FOLDER,
    __doc__,
    targets=("rl.live", "expert.live"),
    cases={"200 made trackers": Case("population", "population")},
    stored=stored_panels,
    gains=(("rl.live", "expert.live"),),
    own={"cells": Cell, "contrasts": Contrast, "point_contrasts": PointContrast},
    more=contrasts,
    decimals={"cells": 5},
)
EXPERIMENT = STUDY.experiment

if __name__ == "__main__":
    EXPERIMENT.main()
