"""`python -m experiments.worlds [--runs DIR]`: how much of what a metric costs is the world's?

Six worlds drawn around each embedded one with 54 trackers (bus.toml, restaurants.toml), and the first version
of this study, whose numbers are in cells.csv: 14 trackers in twelve worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np

from experiments.main import Made, Tables
from experiments.selection import Selection
from experiments.verdicts import Case, MetricStudy
from experiments.worlds.cells import Cell, cells_panel
from extrinsic.panel import Panel
from extrinsic.verdict.choices import choices

FOLDER = Path(__file__).parent
FIRST = "first version"
TARGETS = ("rl.live", "expert.live")


class WorldShare(msgspec.Struct, frozen=True, kw_only=True):
    """A metric in one world: the share of what a perfect choice between two trackers earns."""

    case: str
    target: str
    metric: str
    component: str
    world: str
    share: float


def share_rows(panels: Mapping[str, Panel]) -> Iterator[WorldShare]:
    for case, panel in panels.items():
        for target in TARGETS:
            values = panel.values[[each.name for each in panel.targets].index(target)]
            for d, world in enumerate(panel.datasets):
                made = choices(panel.oriented()[:, [d]], values[[d]])
                for key, share in zip(panel.metrics, made.share.tolist(), strict=True):
                    yield WorldShare(
                        case=case,
                        target=target,
                        metric=key.metric,
                        component=key.component,
                        world=world.name,
                        share=share,
                    )


def stored_panel(folder: Path) -> Mapping[str, Panel]:
    return {FIRST: cells_panel(folder / "cells.csv")}


def shares(panels: Mapping[str, Panel], arguments: object) -> Made:
    wanted = {(each.metric, each.component) for each in panels[FIRST].metrics}
    yield "shares", [row for row in share_rows(panels) if (row.metric, row.component) in wanted]


def spread(rows: Selection[WorldShare], metric: str, **which: object) -> tuple[float, float, float]:
    """Mean, lowest and highest over worlds."""
    chosen = [row.share for row in rows.where(**which).rows if row.metric.startswith(metric)]
    return float(np.mean(chosen)), min(chosen), max(chosen)


def page_values(tables: Tables) -> Mapping[str, object]:
    return {"spread": lambda metric, **which: spread(tables["shares"], metric, **which), "first": FIRST}


STUDY = MetricStudy(
    FOLDER,
    __doc__,
    targets=TARGETS,
    cases={
        "bus": Case("worlds_bus", FOLDER / "bus.toml"),
        "restaurants": Case("worlds_restaurants", FOLDER / "restaurants.toml"),
    },
    stored=stored_panel,
    gains=(("rl.live", "expert.live"),),
    own={"cells": Cell, "shares": WorldShare},
    more=shares,
    values=page_values,
    decimals={"cells": 5},
)
EXPERIMENT = STUDY.experiment

if __name__ == "__main__":
    EXPERIMENT.main()
