"""DSTC1 files, figure by figure; logged propensities in them: read, written, taken along, refused."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1, DSTC2
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError
from tests.builders import (
    Dstc1Files,
    dstc1_turn,
    hypothesis,
    only_sessions,
    tracker,
    write_dstc1,
    write_dstc2,
    write_json,
)
from tests.contents import acts_content, beliefs_content, joint_content, values
from tests.samples import small_dstc1, small_dstc2

SEVEN = (("time.ampm", "pm"), ("time.hour", "7"))


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return DSTC1.read_corpus(write_dstc1(tmp_path, small_dstc1()).corpus)


def read(corpus: Corpus, tmp_path: Path, *turns: Any) -> TrackerOutput:
    """The first call's tracker turns are given, the rest is empty."""
    beliefs = {"one": [*turns, *[{}] * (2 - len(turns))], "two": [{}, {}, {}]}
    return DSTC1.read_tracker(write_json(tmp_path / "t.json", tracker("train4", beliefs)), corpus)


def test_the_corpus_in_columns(corpus: Corpus) -> None:
    assert corpus.sessions == ("one", "two")
    assert corpus.directories == ("calls/one", "calls/two")
    system = acts_content(corpus.system, corpus.vocabulary)
    assert system[0] == [("hello", []), ("request", [("slot", "route")])]
    assert corpus.nbest.offsets.tolist() == [0, 3, 4, 5, 6, 7]
    assert corpus.nbest.batch.tolist() == [False, False, True, False, False, False, False]
    assert corpus.nbest.score.tolist()[:3] == [0.6, 0.3, 0.8]
    labels = corpus.labels
    assert labels.turn.tolist() == [0, 0, 1, 2, 2, 3]
    named = [corpus.slots[slot] for slot in labels.slot]
    assert named == [*["route"] * 3, "time", *["from.desc"] * 2]
    assert values(corpus.vocabulary, labels.value)[3:5] == [SEVEN, "cmu"]
    assert labels.correct.tolist() == [False, True, True, True, True, False]


def test_the_tracker_by_hand(corpus: Corpus, tmp_path: Path) -> None:
    output = DSTC1.read_tracker(write_dstc1(tmp_path, small_dstc1()).tracker, corpus)
    assert output.name == "tracker"
    assert output.wall_time == 0.5
    beliefs = beliefs_content(output.beliefs, corpus.vocabulary)
    # Turn 0, route: 61d .5 is labelled wrong, 61c .25 right; None's .25 comes before its equal.
    assert beliefs[0] == [("61d", 0.5, False), (None, 0.25, False), ("61c", 0.25, True)]
    assert beliefs[9] == [("61c", 0.75, True), (None, 0.25, False)]
    # The second call: time and from.desc are right at once; None is wrong for them, right elsewhere.
    assert beliefs[18 + 8] == [(None, 0.5, False), (SEVEN, 0.5, True)]
    assert beliefs[18 + 1] == [("cmu", 0.625, True), (None, 0.375, False)]
    assert beliefs[18] == [(None, 1.0, True)]
    # After the restart forbes is labelled wrong, and None is right again.
    assert beliefs[27 + 1] == [(None, 0.5, True), ("forbes", 0.5, False)]
    joint = output.joint
    assert joint.correct[joint.none].tolist() == [False, False, False, True, True]
    assert joint.correct[~joint.none].tolist() == [False, True, True]
    assert output.given_joint.given.tolist() == [True, True, True, True, False]


def test_pair_sets_compare_without_order_and_as_text(corpus: Corpus, tmp_path: Path) -> None:
    turns = [{"time": {"hyps": [hypothesis(0.9, {"time.ampm": "pm", "time.hour": 7})]}}, {}, {}]
    file = tracker("train4", {"one": [{}, {}], "two": turns})
    output = DSTC1.read_tracker(write_json(tmp_path / "t.json", file), corpus)
    assert beliefs_content(output.beliefs, corpus.vocabulary)[26][0] == (SEVEN, 0.9, True)


def test_a_hypothesis_without_pairs_is_wrong_and_not_none(corpus: Corpus, tmp_path: Path) -> None:
    output = read(corpus, tmp_path, dstc1_turn(date=[hypothesis(0.75, {})], joint=[hypothesis(0.75, {})]))
    assert beliefs_content(output.beliefs, corpus.vocabulary)[7] == [((), 0.75, False), (None, 0.25, True)]
    assert joint_content(output.given_joint, corpus.vocabulary)[0] == (True, [((None,) * 9, 0.75)])
    assert output.joint.correct.tolist()[:2] == [False, False]  # None is wrong: a route was labelled


def test_repairs_and_notes_name_their_place(corpus: Corpus, tmp_path: Path) -> None:
    high = [hypothesis(0.75, {"route": "61c"}), hypothesis(0.75, {"route": "61d"})]
    low = dstc1_turn(joint=[hypothesis(-0.5, {"route": "61c"})])
    unknown, known = ([hypothesis(0.5, {"route": route})] for route in ("54", "61c"))
    for turns, expected in (
        ([dstc1_turn(route=high), low], [("repair", 0, "route", "1.5"), ("repair", 1, "joint", "-0.5")]),
        ([dstc1_turn(route=unknown, joint=unknown)], [("note", 0, "route", None)]),  # nobody labelled it
        ([dstc1_turn(route=known, joint=known)], []),
    ):
        problems = read(corpus, tmp_path, *turns).problems
        found = [(p.severity, p.turn, p.slot, p.found) for p in problems]
        assert [(*place, None if place[0] == "note" else said) for *place, said in found] == expected
        assert {p.session for p in problems} <= {"one"}
    # One joint list is enough: a tracker may leave out that of a turn.
    (note,) = read(corpus, tmp_path, dstc1_turn(route=known)).problems
    assert (note.severity, "no joint" in note.message) == ("note", True)


def test_wall_time_that_is_unknown_stays_unknown(corpus: Corpus, tmp_path: Path) -> None:
    file = {"dataset": "train4", "sessions": small_dstc1().tracker["sessions"]}
    output = DSTC1.read_tracker(write_json(tmp_path / "t.json", file), corpus)
    DSTC1.write_tracker(output, corpus, tmp_path / "again.json")
    assert DSTC1.read_tracker(tmp_path / "again.json", corpus).wall_time is None


OWN_DOMAIN = """
name = "lines"
description = "only the route"
required = ["route"]
offer = []
yes_no = []
end = []
slots = [{name = "route"}]
groups = {route = ["route"]}
predicates = [{name = "any", acts = ["hello"]}]
"""


def test_a_domain_of_ones_own_decides_the_slots(tmp_path: Path) -> None:
    """What the labels say about other slots is then no label of the task."""
    (tmp_path / "own.toml").write_text(OWN_DOMAIN)
    own = str(tmp_path / "own.toml")
    files = small_dstc1()
    corpus = DSTC1.read_corpus(write_dstc1(tmp_path / "1", only_sessions(files, [0])).corpus, domain=own)
    assert corpus.slots == ("route",)
    with pytest.raises(InputError, match=r"session two, turn 0.*unknown slot in a label.*found 'time\.hour'"):
        DSTC1.read_corpus(write_dstc1(tmp_path / "2", files).corpus, domain=own)


def with_propensities(logged: dict[tuple[str, int], Any]) -> Dstc1Files:
    """The small corpus, its turns (call, number) with these propensities."""
    files = copy.deepcopy(small_dstc1())
    for (call, number), propensities in logged.items():
        files.logs[f"calls/{call}"]["turns"][number]["output"]["propensities"] = propensities
    return files


def logged_calls(root: Path, logged: dict[tuple[str, int], Any]) -> Corpus:
    return DSTC1.read_corpus(write_dstc1(root, with_propensities(logged)).corpus)


def by_name(corpus: Corpus, turn: int) -> dict[str, float]:
    assert corpus.propensities is not None
    row = corpus.propensities[turn]
    return {corpus.domain.predicate_names[column]: row[column].item() for column in np.flatnonzero(row)}


LOGGED = {("one", 1): {"confirm": 0.75, "request": 0.25}, ("two", 2): {"offer": 1}}


def test_propensities_by_predicate(tmp_path: Path) -> None:
    """Turns without any are unknown (NaN), predicates left out have none (0)."""
    corpus = logged_calls(tmp_path, LOGGED)
    assert corpus.propensities is not None
    assert corpus.propensities.shape == (5, len(corpus.domain.predicate_names))
    assert np.isnan(corpus.propensities).all(axis=1).tolist() == [True, False, True, True, False]
    assert by_name(corpus, 1) == {"confirm": 0.75, "request": 0.25}
    assert by_name(corpus, 4) == {"offer": 1.0}


def test_a_corpus_without_any(tmp_path: Path) -> None:
    assert logged_calls(tmp_path / "1", {}).propensities is None
    assert logged_calls(tmp_path / "1", {("one", 0): None}).propensities is None
    assert DSTC2.read_corpus(write_dstc2(tmp_path / "2", small_dstc2()).corpus).propensities is None


def test_they_are_written_and_taken_along(tmp_path: Path) -> None:
    corpus = logged_calls(tmp_path / "first", LOGGED)
    assert corpus.propensities is not None
    DSTC1.write_corpus(corpus, tmp_path / "again")
    for other, turns in (
        (DSTC1.read_corpus(tmp_path / "again"), [0, 1, 2, 3, 4]),
        (corpus.take([1]), [2, 3, 4]),
        (corpus.take([1, 0]), [2, 3, 4, 0, 1]),
    ):
        assert other.propensities is not None
        assert np.array_equal(other.propensities, corpus.propensities[turns], equal_nan=True)


def test_every_unknown_predicate_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        logged_calls(tmp_path, {("one", 0): {"a": 0.5, "b": 0.5}, ("two", 1): {"c": 1.0, "confirm": 0.0}})
    places = [(problem.session, problem.turn) for problem in caught.value.problems]
    assert [turn for _, turn in places] == [0, 0, 1]
    assert [str(session)[-3:] for session, _ in places] == ["one", "one", "two"]
