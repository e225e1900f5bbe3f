"""Who the trackers are: which are degenerate, recalibrated or nearly another one, and which are the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from extrinsic.correlation.duplicates import agreement, near_duplicates
from extrinsic.study.stages.inputs import TrackerInput
from extrinsic.study.stages.store import Result
from extrinsic.study.stages.stored_scores import Measurements


def family(
    trackers: Sequence[TrackerInput],
    datasets: Sequence[str],
    threshold: float,
    measured: Mapping[str, Sequence[bytes]],
) -> Result:
    """A row for every tracker; measured: by tracker, the stored measurements of every unit.

    Near-duplicates are looked for among the trackers that are neither degenerate nor recalibrated.
    """
    tops, scores = [], []
    for tracker in trackers:
        cells = unpack(measured[tracker.name], datasets)
        tops.append(np.concatenate([cells[dataset].top for dataset in datasets]))
        scores.append(np.concatenate([cells[dataset].top_score for dataset in datasets]))
    alike = agreement(tops, scores)
    plain = [i for i, tracker in enumerate(trackers) if not (tracker.degenerate or tracker.recalibrated)]
    found = near_duplicates(alike[np.ix_(plain, plain)], threshold)
    original = {plain[i]: plain[j] for i, j in enumerate(found) if j is not None}
    rows: list[dict[str, Any]] = []
    for i, tracker in enumerate(trackers):
        others = [j for j in range(len(trackers)) if j != i]
        nearest = max(others, key=lambda j: (alike[i, j], -j)) if others else None
        rows.append(
            {
                "tracker": tracker.name,
                "core": i in plain and i not in original,
                "degenerate": tracker.degenerate,
                "recalibrated": tracker.recalibrated,
                "near_duplicate_of": trackers[original[i]].name if i in original else None,
                "nearest": None if nearest is None else trackers[nearest].name,
                "agreement": None if nearest is None else float(alike[i, nearest]),
            }
        )
    return Result({"rows": rows})


def unpack(stored: Sequence[bytes], datasets: Sequence[str]) -> dict[str, Measurements]:
    """The measurements of one tracker, by dataset."""
    cells = {}
    for data in stored:
        result = Result.decode(data)
        for dataset in datasets:
            if dataset in result.values:
                cells[dataset] = Measurements.of(result, dataset)
    return cells
