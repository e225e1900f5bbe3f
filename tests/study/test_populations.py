"""Studies of populations and bad tables of them; and who of all trackers is not one of the core ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import extrinsic
from extrinsic.errors import UsageError
from extrinsic.study.tracker_inputs import _best_beliefs, distinct_members, distinct_trackers
from extrinsic.trackers.populations import population
from extrinsic.verdict.core_systems import agreement
from tests.running import assert_refused
from tests.study.studies import SMALL, Row, Study, copied, done, require_same, run_in, write_study
from tests.trackers.calls import noisy_calls

BUILT_IN = 'built_in = ["baseline", "hwu", "vote"]'
TABLES = """
[trackers.population]
size = 3
families = ["bayes", "mixture"]
distinct = 0.99
"""
COPY = "recalibrated(hwu, temperature=0.5)"


def test_a_study_makes_its_trackers(tmp_path: Path) -> None:
    """The same in two processes as in one; a recalibrated tracker is not core."""
    text = SMALL.replace(BUILT_IN, f'built_in = ["hwu", "{COPY}"]') + TABLES
    study = done(write_study(tmp_path, text), tmp_path / "run")
    names = [row["tracker"] for row in study.rows("trackers")]
    assert names[:2] == ["hwu", COPY]
    assert all(name.startswith(("bayes(confusion=", "mixture(")) for name in names[2:])
    flags = {row["tracker"]: row["recalibrated"] for row in study.rows("trackers")}
    assert [name for name in names if flags[name] == "true"] == [COPY]
    accuracy = study.values("intrinsic", metric="accuracy", schedule="1", component="all")
    assert accuracy[COPY] == pytest.approx(accuracy["hwu"], abs=0.01)
    require_same(study.folder, done(study.config, tmp_path / "again", "--n-jobs", "2").folder)


def test_bad_tables_are_all_reported(tmp_path: Path) -> None:
    text = SMALL.replace(BUILT_IN, 'built_in = ["focus(discount=3)"]')
    text += '\n[trackers.population]\nsize = 60\nfamilies = ["delayed"]\n'
    outcome = run_in(write_study(tmp_path, text), tmp_path / "run")
    assert_refused(outcome, "key trackers.population", "above 0 to 1", "54 distinct members")


def test_the_filter_leaves_no_two_alike() -> None:
    """Every pair of those kept agrees less; every one left out agrees with its original."""
    corpus, names = noisy_calls(24, seed=3), population(30, families=["focus", "bayes", "last_mention"])
    compared = list(distinct_trackers(names, corpus, 0.97))
    kept = [tracker for tracker, original in compared if original is None]
    assert [tracker for tracker, _ in compared] == names
    assert 3 < len(kept) < len(names)
    tops, scores = zip(*(_best_beliefs(name, *_halves(corpus)) for name in names), strict=True)
    alike = agreement(tops, scores)
    for i, (tracker, original) in enumerate(compared):
        earlier = [names.index(name) for name in kept if names.index(name) < i]
        assert (original is not None) == any(alike[i, j] >= 0.97 for j in earlier), tracker
        if original is not None:
            assert alike[i, names.index(original)] >= 0.97


def _halves(corpus):  # type: ignore[no-untyped-def]
    from extrinsic.corpus.corpus import ranked_sessions

    order = ranked_sessions(corpus.sessions, 0)
    return corpus.take(sorted(order[:12])), corpus.take(sorted(order[-12:]))


def test_a_population_without_enough_distinct_members_says_how_many_there_are() -> None:
    corpus = noisy_calls(12, seed=3)
    with pytest.raises(UsageError, match=r"of a population's first 40 members .* only \d+ are distinct"):
        distinct_members(5, 0, ["last_mention"], corpus, 0.01)
    assert len(distinct_members(5, 0, ["bayes"], corpus, 0.999)) == 5


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
