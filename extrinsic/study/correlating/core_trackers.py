"""The stage that finds the core trackers: neither degenerate, recalibrated, flagged nor near-duplicates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from extrinsic.arrays import Floats
from extrinsic.correlation.duplicates import agreement, near_duplicates
from extrinsic.storage import content_hash, encode_json
from extrinsic.study.stages.inputs import TrackerInput
from extrinsic.study.stages.store import Result, Results, StageKey
from extrinsic.study.stages.stored_scores import Measurements, TrackerScores
from extrinsic.study.stages.versions import code_version
from extrinsic.study.tables.value_rows import TrackerRow

JOINT_ONLY = "joint_only"


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
        rows = core_rows(self.trackers, agreement(tops, scores), self.near, joint_only)
        return Result(CoreTrackers(tuple(rows)))


def core_rows(
    trackers: Sequence[TrackerInput], alike: Floats, near: float, joint_only: Collection[str] = ()
) -> list[TrackerRow]:
    """A row for every tracker; alike (n, n): how much every two agree.

    joint_only: trackers without beliefs about single slots, which only get a flag.

    Near-duplicates are looked for among the trackers that are neither degenerate, recalibrated nor flagged.
    """
    plain = [
        i
        for i, tracker in enumerate(trackers)
        if not (tracker.degenerate or tracker.recalibrated or tracker.flags)
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
                flags=(*tracker.flags, *([JOINT_ONLY] if tracker.name in joint_only else [])),
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
