"""The tables of the embedded world, as they stand in the repository, are those that the code makes."""

from __future__ import annotations

from functools import cache

import msgspec
import pytest

from experiments.embedded_world.__main__ import (
    FOLDER,
    fresh_letsgo,
    profile_row,
    real_corpora,
    tracker_row,
)
from experiments.embedded_world.tables import CorpusProfile, SimulatedDataset, TrackerAtEnd
from experiments.selection import Selection
from extrinsic.cli.simulate import dataset_row
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Play, read_simulation, simulate
from extrinsic.tables import read_rows
from tests.real_data import needs_data

DATASETS = Selection(read_rows(FOLDER / "datasets.csv", SimulatedDataset))
PROFILES = Selection(read_rows(FOLDER / "profiles.csv", CorpusProfile))
SCORES = Selection(read_rows(FOLDER / "trackers.csv", TrackerAtEnd))
AGAIN = "make the tables again: python -m experiments.embedded_world"
LAST_DIGIT = 6e-4
"""Three places are written."""

OTHER_VERSIONS = 0.02
"""Of libraries: what learned trackers may differ by."""


@cache
def ds4(split: str) -> Play:
    return simulate(read_simulation(), "ds4", split)


def assert_same(row: msgspec.Struct, stored: msgspec.Struct, tolerance: float) -> None:
    for name, value in msgspec.structs.asdict(row).items():
        expected = pytest.approx(value, abs=tolerance) if isinstance(value, float) else value
        assert getattr(stored, name) == expected, f"{name}; {AGAIN}"


@pytest.mark.parametrize("split", ["train", "test"])
def test_datasets(split: str) -> None:
    (stored,) = DATASETS.where(dataset=f"ds4_{split}").rows
    assert_same(SimulatedDataset(**dataset_row(ds4(split))), stored, LAST_DIGIT)


def test_profiles_of_simulated_calls() -> None:
    for corpus in (ds4("test").corpus, fresh_letsgo()):
        (stored,) = PROFILES.where(dataset=corpus.dataset).rows
        assert_same(profile_row(corpus, False), stored, LAST_DIGIT)


@needs_data
def test_profiles_of_real_calls() -> None:
    for corpus in real_corpora():
        (stored,) = PROFILES.where(dataset=corpus.dataset).rows
        assert_same(profile_row(corpus, True), stored, LAST_DIGIT)


@pytest.mark.parametrize("name", TRACKERS.names())
def test_trackers(name: str) -> None:
    rows = SCORES.where(dataset="ds4", tracker=name).rows
    assert len(rows) == 1, AGAIN
    row = tracker_row(name, "ds4", ds4("test"), ds4("train"))
    assert_same(row, rows[0], OTHER_VERSIONS if row.kind == "learned" else LAST_DIGIT)
