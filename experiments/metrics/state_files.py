"""The files that are scored, those over the same dialogs together, and resamples of their dialogs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from experiments.main import require
from extrinsic import read_states
from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.state_sets import StateSets
from extrinsic.metrics.measuring import percentile_interval
from extrinsic.metrics.state_items import ALL, StateItems, StateTable, table_of_states
from extrinsic.panel import item_weights
from extrinsic.storage import content_hash

SEED, RESAMPLES = 602, 2_000
SOM, T5, SYSTEMS, FEWER = "SOM-DST 100", "T5 zero-shot", "13 systems", "12 systems"
COPY = "uniconv"
"""Its states are gold ones with slots left out (README.md shows why), no predictions: FEWER lacks it."""

ALONE = {SOM: "som_dst_100.json.gz", T5: "t5_zeroshot_attraction.json.gz"}
"""A group of one file each; the systems of `end_to_end` are the third group."""


@dataclass(frozen=True, eq=False)
class File:
    """One file; rows (n_dialogs,): its dialogs' indices among those of its group."""

    name: str
    states: StateSets
    rows: Ints

    @cached_property
    def table(self) -> StateTable:
        return table_of_states(self.states)

    @cached_property
    def items(self) -> StateItems:
        return self.table.select(ALL, 1)


@dataclass(frozen=True, eq=False)
class Group:
    """Files over the same dialogs (a system may lack some of them)."""

    dialogs: tuple[str, ...]
    files: tuple[File, ...]

    @staticmethod
    def of(states: Mapping[str, StateSets]) -> Group:
        dialogs = sorted({dialog for file in states.values() for dialog in file.dialogs})
        row = {dialog: number for number, dialog in enumerate(dialogs)}
        files = (
            File(name, file, np.array([row[dialog] for dialog in file.dialogs]))
            for name, file in states.items()
        )
        return Group(tuple(dialogs), tuple(files))

    @cached_property
    def weights(self) -> Floats:
        """(1 + RESAMPLES, n_dialogs) first every dialog once, then how often each resample draws it."""
        n = len(self.dialogs)
        return np.vstack([np.ones((1, n)), item_weights(content_hash(*self.dialogs), n, RESAMPLES, SEED)])

    def spread(self, file: File, values: Floats) -> Floats:
        """(n_dialogs of the group, ...) the values of a file's dialogs, 0 for those that it lacks."""
        everywhere = np.zeros((len(self.dialogs), *values.shape[1:]))
        everywhere[file.rows] = values
        return everywhere

    def has(self, file: File) -> Bools:
        """(n_dialogs of the group,)"""
        return np.asarray(np.isin(np.arange(len(self.dialogs)), file.rows))

    def scatter(self, parts: Iterable[tuple[Floats, Ints]]) -> Floats:
        """(1 + RESAMPLES, k, k) sums of products of the points of each part around its means, added up.

        A part, one system's: points (m, k), and (m,) the row of each point's dialog. Points with a NaN are
        left out. A resample weighs the sums of dialogs and never sees the points again.
        """
        return np.asarray(sum(self._scatter(points, rows) for points, rows in parts))

    def _scatter(self, points: Floats, rows: Ints) -> Floats:
        kept = ~np.isnan(points).any(axis=1)
        # Centred, which changes no covariance, for the sake of precision.
        points = points[kept] - points[kept].mean(axis=0)
        m, k = points.shape
        products = (points[:, :, None] * points[:, None, :]).reshape(m, k * k)
        sums = np.zeros((len(self.dialogs), 1 + k + k * k))
        np.add.at(sums, rows[kept], np.hstack([np.ones((m, 1)), points, products]))
        number, linear, squares = np.split(self.weights @ sums, [1, 1 + k], axis=1)
        outer = linear[:, :, None] * linear[:, None, :]
        return np.asarray(squares.reshape(-1, k, k) - outer / number[:, :, None])


def with_ends(values: Floats) -> tuple[float, float, float]:
    """An observed value and the ends of its interval, of (1 + RESAMPLES,) the observed and the resampled."""
    low, high = percentile_interval(values[1:])
    assert low is not None and high is not None
    return float(values[0]), low, high


def named_ends(name: str, values: Floats) -> dict[str, float]:
    """The same by the names of their fields."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), with_ends(values), strict=True))


def read_groups() -> dict[str, Group]:
    folder = require("multiwoz")
    groups = {name: Group.of({name: read_states(folder / file)}) for name, file in ALONE.items()}
    paths = sorted((folder / "end_to_end").glob("*.json.gz"))
    return groups | {
        SYSTEMS: Group.of({path.name.removesuffix(".json.gz"): read_states(path) for path in paths})
    }


def units(groups: dict[str, Group]) -> list[tuple[str, Group, Sequence[File]]]:
    """Every file by itself, and then the systems taken together, with and without the copy."""
    systems = groups[SYSTEMS]
    together = {SYSTEMS: systems.files, FEWER: [file for file in systems.files if file.name != COPY]}
    return [
        *((file.name, group, [file]) for group in groups.values() for file in group.files),
        *((name, systems, files) for name, files in together.items()),
    ]
