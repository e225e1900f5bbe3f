"""`python -m experiments.dstc2 [--runs DIR]`: which metric predicts the return on real calls?

A run of configs/dstc2.toml: learned on train, valued on dev, both fill rules; one that is there is not made
again. Beside it whole.csv, which is kept: returns that version 156985d estimated, over all of dev, and scores
of the same files. Needs EXTRINSIC_DATA, or ../shared/data.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from experiments.verdicts import Case, MetricStudy, panel_of
from extrinsic.panel import Panel
from extrinsic.tables import read_rows
from extrinsic.verdict.names import Name

FOLDER = Path(__file__).parent
TARGETS = {
    "argmax": ("rl.mean_augmented", "fill=argmax"),
    "argmax_logged": ("behaviour.observed", "fill=argmax"),
    "threshold": ("rl.mean_augmented", "fill=threshold"),
    "threshold_logged": ("behaviour.observed", "fill=threshold"),
}
METRICS = {
    **{name: Name(name, 1, "goal.joint") for name in ("accuracy", "l2", "avgp", "mrr")},
    **{
        name: Name(f"{name}(fill=argmax)", 1, "state")
        for name in ("jga", "slot_f1", "average_goal_accuracy", "relative_slot_accuracy", "gca")
    },
    "fga": Name("fga(0.5, fill=argmax)", 1, "state"),
}


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A tracker over all of dev: metrics, and what was estimated under both fill rules."""

    tracker: str
    core: bool
    accuracy: float
    l2: float
    avgp: float
    mrr: float
    jga: float
    slot_f1: float
    average_goal_accuracy: float
    relative_slot_accuracy: float
    gca: float
    fga: float
    argmax: float
    argmax_logged: float
    threshold: float
    threshold_logged: float


def stored_panel(folder: Path) -> Mapping[str, Panel]:
    """All of dev as one dataset."""
    kept = read_rows(folder / "whole.csv", Whole)
    rows: list[dict[str, object]] = [
        {"dataset": "dstc2_dev", "system": row.tracker, "family": "", **msgspec.structs.asdict(row)}
        for row in kept
    ]
    return {"all of dev": panel_of(rows, METRICS, TARGETS, [row.tracker for row in kept if not row.core])}


STUDY = MetricStudy(
    FOLDER,
    __doc__,
    targets=("rl.mean_augmented", "rl.lstd"),
    cases={"real calls": Case("dstc2", "dstc2")},
    stored=stored_panel,
    gains=(
        ("rl.mean_augmented", "behaviour.observed"),
        ("rl.mean_augmented", "sl_sampled.mean_augmented"),
        ("rl.lstd", "behaviour.observed"),
    ),
    data="dstc2",
    own={"whole": Whole},
    decimals={"whole": 4},
)
EXPERIMENT = STUDY.experiment

if __name__ == "__main__":
    EXPERIMENT.main()
