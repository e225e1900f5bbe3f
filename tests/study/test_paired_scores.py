"""Two trackers on the same dialogs: against an enumeration of all exchanges."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.corpus.formats import read_states
from extrinsic.metrics.definition import parse_metric
from extrinsic.metrics.measuring import Source
from extrinsic.study.paired_scores import align, paired_scores
from extrinsic.verdict.compare import better_one
from tests.builders import write_json
from tests.running import assert_refused, run, succeed


def write_system(path: Path, right: list[list[int]], reverse: bool = False) -> Path:
    """A dialog for each list; a turn of it is right or not."""
    dialogs: dict[str, Any] = {
        f"d{number}": {
            str(turn): {
                "gt": {"hotel": {"area": "north"}},
                "pr": {"hotel": {"area": "north" if is_right else "south"}},
            }
            for turn, is_right in enumerate(turns)
        }
        for number, turns in enumerate(right)
    }
    return write_json(path, dict(reversed(dialogs.items())) if reverse else dialogs)


FIRST = [[1, 1], [1, 0, 1], [1], [1, 1], [0, 1], [1], [1, 1], [1]]
SECOND = [[1, 0], [0, 0, 1], [1], [1, 0], [0, 1], [0], [1, 1], [0]]


def jga(chosen: list[list[int]]) -> float:
    turns = [turn for dialog in chosen for turn in dialog]
    return sum(turns) / len(turns)


def test_against_all_exchanges(tmp_path: Path) -> None:
    first = read_states(write_system(tmp_path / "a.json", FIRST))
    second = align(first, read_states(write_system(tmp_path / "b.json", SECOND, reverse=True)))
    (row,) = paired_scores(
        Source(None, first), Source(None, second), [parse_metric("jga")], permutations=20_000, seed=3
    )
    difference = jga(FIRST) - jga(SECOND)
    assert (row.first, row.second) == (jga(FIRST), jga(SECOND))
    assert row.difference == pytest.approx(difference)
    extreme = 0
    for coins in product((0, 1), repeat=len(FIRST)):
        swapped = [
            jga(
                [pair[coin ^ side] for coin, pair in zip(coins, zip(FIRST, SECOND, strict=True), strict=True)]
            )
            for side in (0, 1)
        ]
        extreme += abs(swapped[0] - swapped[1]) >= difference - 1e-12
    exact = extreme / 2 ** len(FIRST)
    # Five standard errors of 20,000 draws.
    assert row.p == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 20_000))
    assert row.low is not None and row.high is not None and row.low <= difference <= row.high
    assert exact > 0.05 and row.better is None  # ahead, but by chance as often as once in 16 times


def test_a_better_one_is_named_only_where_it_is_decided() -> None:
    cases = {
        (True, 0.2, 0.1, 0.3, 0.01): "a",
        (False, 0.2, 0.1, 0.3, 0.01): "b",
        (True, -0.2, -0.3, -0.1, 0.01): "b",
        (True, 0.2, -0.1, 0.3, 0.01): None,
        (True, 0.2, 0.1, 0.3, 0.05): None,
        (None, 0.2, 0.1, 0.3, 0.01): None,
        (True, None, None, None, None): None,
    }
    assert {case: better_one(("a", "b"), *case) for case in cases} == cases


def test_equal_systems(tmp_path: Path) -> None:
    files = [write_system(tmp_path / f"{name}.json", FIRST) for name in "ab"]
    outcome = succeed("score", "--format", "state-sets", "--paired", *files, "--json")
    for row in outcome.json()["rows"]:
        if row["difference"] is not None:
            assert (row["difference"], row["low"], row["high"], row["p"]) == (0, 0, 0, 1)
        assert row["better"] is None


def test_the_table_and_its_forms(tmp_path: Path) -> None:
    files = [write_system(tmp_path / "a.json", FIRST), write_system(tmp_path / "b.json", SECOND)]
    arguments = ("score", "--format", "state-sets", "--paired", *files, "--metric", "jga")
    table = run(*arguments).output
    head = "metric component schedule a b difference low high p better"
    assert table.splitlines()[0].split() == head.split()
    assert "permutations:4999" in table
    assert "not decided" in table
    assert run(*arguments).output == table
    assert run(*arguments, "--json").json()["rows"][0]["metric"] == "jga"


def test_what_is_refused(tmp_path: Path) -> None:
    a = write_system(tmp_path / "a.json", FIRST)
    fewer = write_system(tmp_path / "b.json", SECOND[:-1])
    longer = write_system(tmp_path / "c.json", [*SECOND[:-1], [1, 1]])
    paired = ("score", "--format", "state-sets", "--paired")
    assert_refused(run(*paired, a, fewer), "1 are in one file only", "d7")
    assert_refused(run(*paired, a, longer), "number of turns", "d7")
    assert_refused(run(*paired, a), "two files")
    assert_refused(run(*paired, a, fewer, "--turn-correlation"), "--turn-correlation")
    gold = json.loads(a.read_text())
    gold["d0"]["0"]["gt"] = {"hotel": {"area": "east"}}
    other = write_json(tmp_path / "d.json", gold)
    assert_refused(run(*paired, a, other), "another gold", "d0", "turn 0", "hotel-area")
