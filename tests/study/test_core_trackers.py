"""Who the core trackers are: degenerate, recalibrated and nearly equal ones are left out, and said to be."""

from __future__ import annotations

from pathlib import Path

import pytest

import extrinsic
from tests.study.studies import Row, Study, copied, done


@pytest.fixture(scope="session")
def family(disk: Path) -> Study:
    return done(disk / "study.toml", disk / "run")


def by_tracker(study: Study) -> dict[str, Row]:
    return {row["tracker"]: row for row in study.rows("trackers")}


def core(study: Study) -> set[str]:
    return {name for name, row in by_tracker(study).items() if row["core"] == "true"}


def test_degenerate_and_recalibrated_trackers_are_no_core(tiny: Study) -> None:
    rows = by_tracker(tiny)
    assert core(tiny) == {"baseline", "hwu", "rank_only", "vote"}
    assert rows["last_turn"]["degenerate"] == "true"
    assert rows["focus_overconfident"]["recalibrated"] == "true"
    assert all(row["near_duplicate_of"] == "" for row in rows.values())


def test_a_tracker_that_hardly_ever_has_a_value_is_no_core(tiny: Study, tmp_path: Path) -> None:
    names = 'trackers.built_in=["baseline", "hwu", "rank_only", "vote(none=10)", "vote"]'
    study = done(tiny.config, copied(tiny, tmp_path / "run").folder, "--set", names)
    rows = by_tracker(study)
    assert core(study) == {"baseline", "hwu", "rank_only", "vote"}
    assert (rows["vote(none=10)"]["flags"], rows["vote(none=10)"]["degenerate"]) == ("silent", "false")
    notes = [note.text for note in extrinsic.Run(study.folder).verdict().health]
    assert any("hardly ever have a value" in note and "vote(none=10)" in note for note in notes)


def test_the_same_tracker_under_two_names_counts_once(family: Study) -> None:
    rows = by_tracker(family)
    assert rows["second"]["near_duplicate_of"] == "first"
    assert (rows["second"]["nearest"], float(rows["second"]["agreement"])) == ("first", 1.0)
    assert rows["first"]["near_duplicate_of"] == ""
    assert core(family) == {"baseline", "rank_only", "first", "other"}
    values = family.values("returns", policy="rl", estimator="lstd")
    assert values["first"] == values["second"] != values["other"]
    sizes = {row["trackers"]: row["n"] for row in family.rows("correlations")}
    assert sizes == {"all": "6", "core": "4"}


def test_who_is_degenerate_can_be_said(family: Study, tmp_path: Path) -> None:
    options = ["--set", 'trackers.degenerate=["other"]', "--set", 'trackers.recalibrated=["baseline"]']
    other = done(family.config, copied(family, tmp_path / "run").folder, *options)
    assert core(other) == {"rank_only", "first"}
    reasons = {row["reason"] for row in other.rows("correlations") if row["trackers"] == "core"}
    assert reasons == {"fewer than 3 trackers"}


def test_how_near_is_near_can_be_set(small: Study, tmp_path: Path) -> None:
    nearest = max(float(row["agreement"]) for row in small.rows("trackers"))
    assert nearest < 0.98
    for threshold, gone in ((nearest - 1e-6, 1), (nearest + 1e-6, 0)):
        study = copied(small, tmp_path / f"run{gone}")
        done(study.config, study.folder, "--set", f"trackers.near_duplicate={threshold}")
        rows = study.rows("trackers")
        assert [row["core"] for row in rows if row["near_duplicate_of"]] == ["false"] * gone


def test_files_and_the_built_in_tracker_say_the_same(family: Study, tmp_path: Path) -> None:
    """What `extrinsic track` wrote is what the study would have run itself."""
    names = 'trackers.built_in=["last_turn", "baseline", "rank_only", "hwu"]'
    other = done(family.config, copied(family, tmp_path / "run").folder, "--set", names)
    for row in other.rows("intrinsic", tracker="hwu"):
        values = other.values("intrinsic", metric=row["metric"], component=row["component"])
        assert values["first"] == pytest.approx(values["hwu"], abs=1e-6)
    assert by_tracker(other)["first"]["near_duplicate_of"] == "hwu"
