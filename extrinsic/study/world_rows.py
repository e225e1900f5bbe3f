"""The table of drawn worlds: what was drawn, and what their test dialogs turned out to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from extrinsic.simulation import describe
from extrinsic.simulation.drawn_worlds import is_drawn, read_drawn
from extrinsic.study.stages.inputs import SimulatedDialogs, Unit
from extrinsic.study.tables.schema import WorldRow

MEASURED = ("turns_per_dialog", "rank_1", "in_list", "list_size", "hang_ups", "completed")


def world_rows(units: tuple[Unit, ...]) -> Iterator[WorldRow]:
    """A row for every property of every world."""
    for unit in units:
        dialogs = unit.test
        if not isinstance(dialogs, SimulatedDialogs):
            continue
        simulation = dialogs.simulation
        if is_drawn(dialogs.dataset):
            _, drawn = read_drawn(dialogs.dataset, getattr(simulation, "properties", {}))
            for name, value in drawn.items():
                yield WorldRow(dataset=unit.name, property=name, drawn=True, value=value)
        measured = asdict(describe(simulation.simulate(dialogs.dataset, dialogs.split)))
        for name in MEASURED:
            yield WorldRow(dataset=unit.name, property=name, drawn=False, value=measured[name])
