"""Cells that earlier studies kept: a tracker in a world, and what it earns under two policies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from experiments.verdicts import panel_of
from extrinsic.panel import Panel
from extrinsic.tables import read_rows
from extrinsic.verdict.names import Name

METRICS = {
    "accuracy": Name("accuracy", 1, "joint"),
    "l2": Name("l2", 1, "joint"),
    "avgp": Name("avgp", 1, "joint"),
    "accuracy_all": Name("accuracy", 1, "all"),
    "l2_all": Name("l2", 1, "all"),
    "jga": Name("jga(fill=argmax)", 1, "state"),
    "slot_f1": Name("slot_f1(fill=argmax)", 1, "state"),
    "gca": Name("gca(fill=argmax)", 1, "state"),
    "fga": Name("fga(0.5, fill=argmax)", 1, "state"),
}
TARGETS = {
    "learned": ("rl.live", ""),
    "fixed": ("expert.live", ""),
    "logged": ("behaviour.observed", ""),
}
NEGATIVE = ("l2", "l2_all")
"""Stored with higher better."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A tracker in a world, with callers of some seed; metrics: higher is better, over all turns.

    learned, fixed: the live return of the policy learned on the tracker, and of the world's expert; served,
    turns: of its callers.   logged: what the logged dialogs earned.
    """

    world: str
    dataset: str
    seed: int
    tracker: str
    accuracy: float
    l2: float
    avgp: float
    accuracy_all: float
    l2_all: float
    jga: float
    slot_f1: float
    gca: float
    fga: float
    logged: float
    learned: float
    learned_served: float
    learned_turns: float
    fixed: float
    fixed_served: float
    fixed_turns: float


def itself(tracker: str) -> str:
    return ""


def cells_panel(
    path: Path, world: str | None = None, family: Callable[[str], str] = itself, sampled: bool = False
) -> Panel:
    """The panel of all cells, or of one world's."""
    rows = []
    for cell in read_rows(path, Cell):
        if world in (None, cell.world):
            row: dict[str, object] = {"dataset": f"{cell.world} {cell.dataset} {cell.seed}"}
            row |= {"system": cell.tracker, "family": family(cell.tracker)}
            row |= {name: getattr(cell, name) * (-1.0 if name in NEGATIVE else 1.0) for name in METRICS}
            rows.append(row | {name: getattr(cell, name) for name in TARGETS})
    return panel_of(rows, METRICS, TARGETS, sampled=sampled)
