"""Public files: all are read, and have the figures that papers, authors and the challenge's scorer print."""

from __future__ import annotations

import csv
import math
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.formats import STATE_SETS
from extrinsic.corpus.state_sets import StateSets
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.fga import FlexibleGoalAccuracy, decay_to_forget
from tests.metrics.dialogs import by_turn, in_percent, states_of, values_of
from tests.published_figures import (
    AGA,
    END_TO_END_JGA,
    KIM_A6,
    RSA,
    RUNNING_EXAMPLE,
    T5_ZERO_SHOT_ATTRACTION,
    WORKED_EXAMPLES,
)
from tests.real_data import ARCHIVE, FOLDER, needs_data, tracker_files
from tests.running import run


@cache
def read(name: str) -> StateSets:
    return STATE_SETS.read(FOLDER / "multiwoz" / name)


PUBLISHED = {
    **{f"worked_examples/{name}.json": figures for name, figures in WORKED_EXAMPLES.items()},
    **{f"end_to_end/{name}.json.gz": {"jga": jga} for name, jga in END_TO_END_JGA.items()},
    "t5_zeroshot_attraction.json.gz": T5_ZERO_SHOT_ATTRACTION,
    "som_dst_100.json.gz": {"jga": 49.93},
}


@needs_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_what_authors_print_of_their_files(name: str) -> None:
    """The worked examples of the GCA paper, end-to-end systems, T5 and SOM-DST."""
    assert in_percent(read(name), *PUBLISHED[name]) == PUBLISHED[name]


@needs_data
def test_traits_of_sample_1() -> None:
    """Seven turns, one mistake in turn 2 and two in turn 4."""
    expected = {
        "tail_orientation": ((2 + 4 + 4) / 3 - 3) / 7,
        "tail_orientation(2023)": (-1 + 1 + 1) / 7,
        "non_uniformity": (5 * 3 / 7 + 4 / 7 + 11 / 7) / (3 / 7),
        "non_uniformity(2023)": (5 * 9 + 16 + 121) / 49,
    }
    assert values_of(read("worked_examples/sample_1.json"), *expected) == pytest.approx(expected)


def test_running_example_of_dey() -> None:
    states = states_of(RUNNING_EXAMPLE)
    later = round(1 - math.exp(-0.5), 4)  # .3935, printed as .39
    assert by_turn(states, "fga(0.5)") == [1, 1, 0, later, 0, later]
    expected = {"fga(0.5)": 46.45, "jga": 33.33, "slot_accuracy": 94.44, AGA: 76.19}
    assert in_percent(states, *expected) == expected
    assert by_turn(states, "slot_accuracy")[2] == 0.9333
    assert by_turn(states, AGA)[2:5:2] == [round(4 / 6, 4), round(5 / 7, 4)]


def test_kim_table_3() -> None:
    gold = "restaurant-area-centre, restaurant-food-indian, restaurant-people-2"
    short = "restaurant-area-centre, restaurant-food-chinese, attraction-area-centre"
    long = f"{short}, restaurant-name-nusha, attraction-pricerange-cheap"
    states = states_of([(gold, short), (gold, long)])
    assert by_turn(states, RSA) == [0.25, 0.1667]
    assert by_turn(states, AGA) == [0.3333, 0.3333]
    assert by_turn(states, "jga") == [0, 0]


def test_kim_table_a6() -> None:
    states = states_of(KIM_A6)
    assert by_turn(states, "slot_accuracy") == [0.9667, 0.9667, 0.9333, 0.9333, *[0.9667] * 6]
    assert by_turn(states, RSA) == [0, 0, 0, 0, 0.6667, 0.75, 0.8, 0.8, 0.8, 0.8]
    assert values_of(states, "first_error") == {"first_error": 0}


def test_lambda_that_forgets_by_a_factor() -> None:
    """Dey: after 6 turns a mistake is forgotten by 95 %: 1 - exp(-6 lambda) = .95."""
    assert round(decay_to_forget(6, 0.95), 3) == 0.499
    metric = parse_metric("fga(turns=6, factor=0.95)")
    assert isinstance(metric, FlexibleGoalAccuracy)
    assert 1 - math.exp(-6 * metric.decay) == pytest.approx(0.95)


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


@needs_data
@pytest.mark.parametrize("name", TRACKERS)
def test_every_official_row(name: str) -> None:
    found = {
        key_of(row): (str(row["n"]), "-" if row["value"] is None else f"{row['value']:.7f}")
        for row in score_from(ARCHIVE, name)["rows"]
    }
    expected = official_rows(name)
    assert len(expected) == N_OFFICIAL_ROWS
    assert {key: found.get(key) for key in expected} == expected


@needs_data
def test_we_add_only_what_the_scorer_lacks() -> None:
    """Beside the official rows: Lee's error rate and distance, and schedule 3."""
    ours = {key_of(row) for row in score_from(ARCHIVE, "focus.dev")["rows"]}
    added = ours - set(official_rows("focus.dev"))
    assert {key for key in added if key[2] != "3" and key[1] not in ("roc.v1_eer_lee", "l2.lee")} == set()
    assert {key[2] for key in added} == {"1", "2", "3"}


@needs_data
def test_the_unpacked_directory_scores_the_same(tmp_path: Path) -> None:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    from_directory, from_archive = (score_from(corpus, *TRACKERS) for corpus in (tmp_path, ARCHIVE))
    assert from_directory["rows"] == from_archive["rows"]
    assert {row["tracker"] for row in from_directory["rows"]} == set(TRACKERS)


@needs_data
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


@needs_data
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
