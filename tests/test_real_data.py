"""The public files themselves: every one of them is read, and has the size it is known to have."""

from __future__ import annotations

import pytest

from tests.real_data import ARCHIVE, FOLDER, needs_data, tracker_files
from tests.running import run

pytestmark = needs_data


@pytest.mark.parametrize(
    ("part", "sessions", "turns", "n_files"), [("dev", 506, 3934, 10), ("train", 1612, 11677, 9)]
)
def test_every_dstc2_tracker_validates(part: str, sessions: int, turns: int, n_files: int) -> None:
    files = tracker_files(part)
    assert len(files) == n_files
    outcome = run("validate", "--format", "dstc2", "--corpus", ARCHIVE, "--dataset", f"dstc2_{part}", *files)
    assert outcome.code == 0
    for file in files:
        assert f"{file}: {sessions:,} sessions, {turns:,} turns" in outcome.output


def test_every_state_sets_file_validates() -> None:
    folder = FOLDER / "multiwoz"
    patterns = ("*.json.gz", "end_to_end/*.json.gz", "worked_examples/*.json")
    files = sorted(file for pattern in patterns for file in folder.glob(pattern))
    outcome = run("validate", "--format", "state-sets", "--json", *files)
    assert outcome.code == 0
    rows = {row["file"].rpartition("/")[2]: row for row in outcome.json()["rows"]}
    assert len(rows) == len(files) == 25
    assert (rows["t5_zeroshot_attraction.json.gz"]["sessions"], rows["som_dst_100.json.gz"]["turns"]) == (
        395,
        751,
    )
    assert rows["labes.json.gz"]["sessions"] == 944
    assert all(row["errors"] == row["repairs"] == 0 for row in rows.values())
