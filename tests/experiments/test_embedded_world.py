"""The tables of the embedded world, as they stand in the repository, are those that the code makes.

Where these fail after a deliberate change of the world or of trackers, make the tables anew:
`python -m experiments.embedded_world`.
"""

from __future__ import annotations

import csv
from functools import cache
from typing import Any

import pytest

from experiments.embedded_world.__main__ import FOLDER, dataset_row, tracker_row
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play, read_simulation, simulate

ANEW = "make the tables anew: python -m experiments.embedded_world"
LAST_DIGIT = 6e-4
"""Three places are written."""

OTHER_VERSIONS = 0.02
"""Of libraries: what learned trackers may differ by."""


def stored(name: str, **where: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if all(row[key] == value for key, value in where.items())]


@cache
def ds4(split: str) -> Play:
    return simulate(read_simulation(), "ds4", split)


def assert_same(found: dict[str, Any], expected: dict[str, str], tolerance: float) -> None:
    assert list(found) == list(expected), ANEW
    for key, value in found.items():
        if isinstance(value, float):
            assert float(expected[key]) == pytest.approx(value, abs=tolerance), f"{key}; {ANEW}"
        else:
            assert expected[key] == ("" if value is None else str(value)), f"{key}; {ANEW}"


@pytest.mark.parametrize("split", ["train", "test"])
def test_datasets(split: str) -> None:
    (expected,) = stored("datasets.csv", dataset=f"ds4_{split}")
    assert_same(dataset_row(ds4(split)), expected, LAST_DIGIT)


@pytest.mark.parametrize("name", TRACKERS.names())
def test_trackers(name: str) -> None:
    rows = stored("trackers.csv", dataset="ds4", tracker=name)
    assert len(rows) == 1, ANEW
    found = tracker_row(name, "ds4", ds4("test"), ds4("train"))
    assert_same(found, rows[0], OTHER_VERSIONS if found["kind"] == "learned" else LAST_DIGIT)


def test_every_tracker_of_every_dataset_has_a_row() -> None:
    expected = [(dataset, name) for dataset in read_simulation().worlds for name in TRACKERS.names()]
    assert [(row["dataset"], row["tracker"]) for row in stored("trackers.csv")] == expected, ANEW
    names = [f"{dataset}_{split}" for dataset, split in read_simulation().corpora()]
    assert [row["dataset"] for row in stored("datasets.csv")] == names, ANEW
