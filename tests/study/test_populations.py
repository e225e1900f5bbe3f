"""Studies of populations: their trackers, the filter for near-duplicates, and bad tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from extrinsic.errors import UsageError
from extrinsic.study.tracker_inputs import _best_beliefs, distinct_members, distinct_trackers
from extrinsic.trackers.populations import population
from extrinsic.verdict.core_systems import agreement
from tests.running import assert_refused
from tests.study.studies import SMALL, done, require_same, run_in, write_study
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
