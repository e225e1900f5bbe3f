"""The files that are scored, those over the same dialogs together, and resamples of their dialogs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from experiments.data import require
from extrinsic import read_states
from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.state_sets import StateSets
from extrinsic.metrics.dialog_resampling import resample_dialogs
from extrinsic.metrics.items.state_items import StateItems
from extrinsic.metrics.items.state_tables import ALL, StateTable, table_of_states
from extrinsic.storage import content_hash

SEED, RESAMPLES = 602, 2_000
SOM, T5, SYSTEMS, FEWER = "SOM-DST 100", "T5 zero-shot", "13 systems", "12 systems"
COPY = "uniconv"
"""Its states are gold ones with slots left out (`columns.copied` tells), no predictions: FEWER lacks it."""

ALONE = {SOM: "som_dst_100.json.gz", T5: "t5_zeroshot_attraction.json.gz"}
"""A group of one file each; the systems of `end_to_end` are the third group."""


@dataclass(frozen=True, eq=False)
class File:
    """One file; `place` (n_dialogs,): where its dialogs stand among those of its group."""

    name: str
    states: StateSets
    place: Ints

    @cached_property
    def table(self) -> StateTable:
        return table_of_states(self.states)

    @cached_property
    def items(self) -> StateItems:
        return self.table.select(ALL, 1)


@dataclass(frozen=True, eq=False)
class Group:
    """Files over the same dialogs (a system may lack some of them)."""

    name: str
    dialogs: tuple[str, ...]
    files: tuple[File, ...]

    @property
    def size(self) -> int:
        return len(self.dialogs)

    @cached_property
    def weights(self) -> Floats:
        """(1 + RESAMPLES, n_dialogs) first every dialog once, then how often each resample draws it."""
        drawn = resample_dialogs(content_hash(*self.dialogs), self.size, RESAMPLES, SEED)
        return np.vstack([np.ones((1, self.size)), drawn])

    def spread(self, file: File, values: Floats) -> Floats:
        """(n_dialogs of the group, ...) what the file's dialogs have, 0 for those that it lacks."""
        everywhere = np.zeros((self.size, *values.shape[1:]))
        everywhere[file.place] = values
        return everywhere

    def has(self, file: File) -> Bools:
        """(n_dialogs of the group,)"""
        return np.asarray(np.isin(np.arange(self.size), file.place))


def read_groups() -> dict[str, Group]:
    folder = require("multiwoz")
    groups = {name: group_of(name, {name: read_states(folder / file)}) for name, file in ALONE.items()}
    paths = sorted((folder / "end_to_end").glob("*.json.gz"))
    systems = {path.name.removesuffix(".json.gz"): read_states(path) for path in paths}
    return groups | {SYSTEMS: group_of(SYSTEMS, systems)}


def group_of(name: str, states: dict[str, StateSets]) -> Group:
    dialogs = tuple(sorted({dialog for one in states.values() for dialog in one.dialogs}))
    row = {dialog: number for number, dialog in enumerate(dialogs)}
    files = (
        File(file, one, np.array([row[dialog] for dialog in one.dialogs])) for file, one in states.items()
    )
    return Group(name, dialogs, tuple(files))


def units(groups: dict[str, Group]) -> list[tuple[str, Group, Sequence[File]]]:
    """Every file by itself, and then the systems taken together, with and without the copy."""
    single = [(file.name, group, (file,)) for group in groups.values() for file in group.files]
    systems = groups[SYSTEMS]
    return [*single, (SYSTEMS, systems, systems.files), (FEWER, systems, trackers(systems))]


def trackers(systems: Group) -> tuple[File, ...]:
    return tuple(file for file in systems.files if file.name != COPY)
