"""The stage that finds the core trackers: neither degenerate, recalibrated, flagged nor near-duplicates.

A tracker is `silent` where it has values for less than a tenth of the items for which the median tracker has
some. One that hardly ever says anything makes a correlation by itself: it is last by every metric and every
target, far from the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.correlation.duplicates import NOTHING, agreement, near_duplicates
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.stages.inputs import TrackerInput
from extrinsic.study.stages.store import Result, Results, StageKey
from extrinsic.study.stages.stored_scores import Measurements, TrackerScores
from extrinsic.study.stages.versions import code_version
from extrinsic.study.tables.value_rows import TrackerRow

JOINT_ONLY, SILENT = "joint_only", "silent"
SILENT_BELOW = 0.1
"""A silent tracker has fewer values than this share of those of the median tracker."""


class CoreTrackers(msgspec.Struct, frozen=True):
    """What the stage stores: a row for every tracker."""

    rows: tuple[TrackerRow, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(row.tracker for row in self.rows if row.core)


@dataclass(frozen=True)
class CoreTask:
    """Find the core trackers; near: trackers that agree at least this much count as one.

    scored: by tracker, the results that hold its scores.
    """

    trackers: tuple[TrackerInput, ...]
    datasets: tuple[str, ...]
    near: float
    scored: Mapping[str, tuple[StageKey, ...]]

    label: str = "core trackers"
    tracker: None = None
    variant: None = None

    @property
    def inputs(self) -> tuple[StageKey, ...]:
        return tuple(key for keys in self.scored.values() for key in keys)

    @cached_property
    def key(self) -> StageKey:
        flags = [
            (tracker.name, tracker.degenerate, tracker.recalibrated, tracker.flags)
            for tracker in self.trackers
        ]
        hashes = [key.hash for key in self.inputs]
        parts = (code_version(__name__), encode_json((flags, self.near, self.datasets, hashes)))
        return StageKey("core", content_hash("core", *parts))

    def run(self, results: Results) -> Result[CoreTrackers]:
        tops, scores, joint_only = [], [], set()
        for tracker in self.trackers:
            stored = [
                Result.decode(results.read(key), key, TrackerScores) for key in self.scored[tracker.name]
            ]
            cells = [(part, dataset) for part in stored for dataset in part.values.datasets]
            order = sorted(
                (cell for cell in cells if cell[1] in self.datasets),
                key=lambda cell: self.datasets.index(cell[1]),
            )
            tops.append(np.concatenate([part.arrays[f"{dataset}/top"] for part, dataset in order]))
            scores.append(np.concatenate([part.arrays[f"{dataset}/top_score"] for part, dataset in order]))
            if any(part.values.joint_only for part in stored):
                joint_only.add(tracker.name)
        flags = {name: [JOINT_ONLY] for name in joint_only}
        flags |= {name: [SILENT] for name in self._silent(tops) if name not in joint_only}
        rows = core_rows(self.trackers, agreement(tops, scores), self.near, flags)
        return Result(CoreTrackers(tuple(rows)))

    def _silent(self, tops: Sequence[Ints]) -> list[str]:
        """tops: per tracker the best value of every item."""
        n_values = [np.count_nonzero(top != NOTHING) for top in tops]
        enough = SILENT_BELOW * float(np.median(n_values))
        return [tracker.name for tracker, n in zip(self.trackers, n_values, strict=True) if n < enough]


def core_rows(
    trackers: Sequence[TrackerInput],
    alike: Floats,
    near: float,
    more_flags: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[TrackerRow]:
    """A row for every tracker; alike (n, n): how much every two agree.

    more_flags: by tracker, what its output shows. Those that are JOINT_ONLY may be of the core all the same.

    Near-duplicates are looked for among the trackers that are neither degenerate, recalibrated nor flagged.
    """
    flags = [(*tracker.flags, *more_flags.get(tracker.name, ())) for tracker in trackers]
    plain = [
        i
        for i, tracker in enumerate(trackers)
        if not (tracker.degenerate or tracker.recalibrated or set(flags[i]) - {JOINT_ONLY})
    ]
    duplicates = near_duplicates(alike[np.ix_(plain, plain)], near)
    original = {plain[i]: plain[j] for i, j in enumerate(duplicates) if j is not None}
    rows = []
    for i, tracker in enumerate(trackers):
        others = [j for j in range(len(trackers)) if j != i]
        nearest = max(others, key=lambda j: (alike[i, j], -j)) if others else None
        rows.append(
            TrackerRow(
                tracker=tracker.name,
                core=i in plain and i not in original,
                degenerate=tracker.degenerate,
                recalibrated=tracker.recalibrated,
                near_duplicate_of=trackers[original[i]].name if i in original else None,
                nearest=None if nearest is None else trackers[nearest].name,
                agreement=None if nearest is None else float(alike[i, nearest]),
                flags=flags[i],
            )
        )
    return rows


def measurements_of(
    results: Results, keys: Sequence[StageKey], datasets: Sequence[str]
) -> dict[str, Measurements]:
    """The measurements of one tracker, by dataset."""
    cells = {}
    for key in keys:
        result = Result.decode(results.read(key), key, TrackerScores)
        for dataset in datasets:
            if dataset in result.values.datasets:
                cells[dataset] = Measurements.of(result, dataset)
    return cells
