"""`python -m experiments.multiwoz [--runs DIR]`: which metric of states predicts success on MultiWOZ?

Three runs of the tool: trackers x generators (configs/multiwoz_swap.toml) on both golds, and the end-to-end
systems with their own responses (configs/multiwoz.toml). A run that is there is not made again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np

from experiments.main import Made
from experiments.multiwoz.state_files import Normalised, Paired, normalisation_rows, paired_rows
from experiments.verdicts import NEAR_DUPLICATE, Case, MetricStudy
from extrinsic.panel import Panel
from extrinsic.verdict.core_systems import core_rows
from extrinsic.verdict.item_level import error_rows
from extrinsic.verdict.rows import ErrorRow

FILES_24 = 'states.files=["${EXTRINSIC_DATA:-../../shared/data}/multiwoz/trackers_2.4/*.json.gz"]'
OWN = "own responses"
SHOWN = ("jga", "slot_f1")


class CaseError(ErrorRow, frozen=True, kw_only=True):
    """A row of errors.csv of a run, over core trackers."""

    case: str


class Tracker(msgspec.Struct, frozen=True, kw_only=True):
    """A tracker under all generators; lowest, highest: of its success under one."""

    case: str
    tracker: str
    flags: tuple[str, ...]
    core: bool
    success: float
    inform: float
    lowest: float
    highest: float
    jga: float
    slot_f1: float


def tracker_rows(case: str, panel: Panel) -> Iterator[Tracker]:
    """The highest success first."""
    names = [target.name for target in panel.targets]
    success, inform = (panel.values[names.index(f"outcome.{name}")] for name in ("success", "inform"))
    places = [
        next(m for m, key in enumerate(panel.metrics) if (key.metric, key.component) == (name, "all"))
        for name in SHOWN
    ]
    rows = core_rows(panel, NEAR_DUPLICATE)
    for i in np.argsort(-success.mean(axis=0), kind="stable").tolist():
        jga, slot_f1 = (float(panel.scores[m, :, i].mean()) for m in places)
        yield Tracker(
            case=case,
            tracker=rows[i].tracker,
            flags=rows[i].flags,
            core=rows[i].core,
            success=float(success[:, i].mean()),
            inform=float(inform[:, i].mean()),
            lowest=float(success[:, i].min()),
            highest=float(success[:, i].max()),
            jga=jga,
            slot_f1=slot_f1,
        )


def more(panels: Mapping[str, Panel], arguments: argparse.Namespace) -> Made:
    if panels:
        yield "trackers", [row for case, panel in panels.items() for row in tracker_rows(case, panel)]
        errors = []
        for case, panel in panels.items():
            core = [row.tracker for row in core_rows(panel, NEAR_DUPLICATE) if row.core]
            errors += [
                CaseError(**msgspec.structs.asdict(row), case=case)
                for row in error_rows(panel, core, 0.95)
                if row.systems == "core"
            ]
        yield "errors", errors
    if not arguments.existing:
        yield "normalisations", list(normalisation_rows())
        yield "paired", list(paired_rows())


STUDY = MetricStudy(
    Path(__file__).parent,
    __doc__,
    targets=("outcome.success", "outcome.inform"),
    cases={
        "2.1": Case("multiwoz_swap", "multiwoz_swap"),
        "2.4": Case("multiwoz_swap_2.4", "multiwoz_swap", (FILES_24,)),
        OWN: Case("multiwoz", "multiwoz"),
    },
    data="multiwoz",
    own={"trackers": Tracker, "errors": CaseError, "normalisations": Normalised, "paired": Paired},
    more=more,
    decimals={"paired": 4},
)
EXPERIMENT = STUDY.experiment

if __name__ == "__main__":
    EXPERIMENT.main()
