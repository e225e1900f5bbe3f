"""The challenge's own scorer on real calls: every row it prints, to the last digit it prints."""

from __future__ import annotations

import csv
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.real_data import ARCHIVE, FOLDER, needs_data
from tests.running import run

pytestmark = needs_data

TRACKERS = ("focus.dev", "baseline_published.dev")
N_OFFICIAL_ROWS = 810

Key = tuple[str, str, str, str]


def key_of(row: dict[str, Any]) -> Key:
    return row["component"], row["metric"], str(row["schedule"]), row["label_scheme"]


def official_rows(name: str) -> dict[Key, tuple[str, str]]:
    """(component, metric, schedule, label scheme) -> (N, value), as the scorer prints them."""
    path = FOLDER / "dstc2" / "official_scores" / f"{name}.csv"
    rows = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, skipinitialspace=True):
            if row["state_component"] == "basic":  # counts of calls and turns, and the wall time
                continue
            metric = "accuracy" if row["stat"] == "acc" else row["stat"]
            key = row["state_component"], metric, row["schedule"], row["label_scheme"]
            rows[key] = row["N"], row["result"]
    return rows


@cache
def score_from(corpus: Path, *names: str) -> dict[str, Any]:
    files = [FOLDER / "dstc2" / "trackers" / f"{name}.json.gz" for name in names]
    outcome = run(
        "score", "--format", "dstc2", "--corpus", corpus, "--dataset", "dstc2_dev", *files, "--json"
    )
    assert outcome.code == 0, outcome.errors
    return outcome.json()


@pytest.mark.parametrize("name", TRACKERS)
def test_every_official_row(name: str) -> None:
    found = {
        key_of(row): (str(row["n"]), "-" if row["value"] is None else f"{row['value']:.7f}")
        for row in score_from(ARCHIVE, name)["rows"]
    }
    expected = official_rows(name)
    assert len(expected) == N_OFFICIAL_ROWS
    assert {key: found.get(key) for key in expected} == expected


def test_we_add_only_what_the_scorer_lacks() -> None:
    """Beside the official rows: Lee's error rate and distance, and schedule 3."""
    ours = {key_of(row) for row in score_from(ARCHIVE, "focus.dev")["rows"]}
    added = ours - set(official_rows("focus.dev"))
    assert {key for key in added if key[2] != "3" and key[1] not in ("roc.v1_eer_lee", "l2.lee")} == set()
    assert {key[2] for key in added} == {"1", "2", "3"}


def test_the_unpacked_directory_scores_the_same(tmp_path: Path) -> None:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    from_directory, from_archive = (score_from(corpus, *TRACKERS) for corpus in (tmp_path, ARCHIVE))
    assert from_directory["rows"] == from_archive["rows"]
    assert {row["tracker"] for row in from_directory["rows"]} == set(TRACKERS)
