"""DSTC2 files, figure by figure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC2
from extrinsic.corpus.tracker_output import TrackerOutput
from tests.builders import ONTOLOGY, dstc2_turn, hypothesis, tracker, write_dstc2, write_json
from tests.contents import acts_content, beliefs_content, joint_content, rows, values
from tests.samples import small_dstc2

SLOTS = ("food", "pricerange", "name", "area")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return DSTC2.read_corpus(write_dstc2(tmp_path, small_dstc2()).corpus)


def read(corpus: Corpus, tmp_path: Path, first: Any) -> TrackerOutput:
    """A tracker file whose first turn is given and whose other turns are empty."""
    empty = dstc2_turn({})
    file = tracker("dstc2_dev", {"one": [first, empty], "two": [empty], "three": [empty, empty]})
    return DSTC2.read_tracker(write_json(tmp_path / "t.json", file), corpus)


def test_the_corpus_in_columns(corpus: Corpus) -> None:
    assert corpus.slots == SLOTS
    assert corpus.requestable == tuple(ONTOLOGY["requestable"])
    assert corpus.offsets.tolist() == [0, 2, 3, 5]
    goal = [values(corpus.vocabulary, row) for row in corpus.labels.goal]
    assert goal[:3] == [["thai", None, None, None], ["thai", None, None, "dontcare"], [None] * 4]
    searched = ["byconstraints"] * 2
    assert values(corpus.vocabulary, corpus.labels.method) == [*searched, "none", *searched]
    said = acts_content(corpus.labels.heard, corpus.vocabulary)
    assert said[1] == [("inform", [("this", "dontcare")])]
    assert corpus.conditions["dialog-manager"] == ("0", "0", "1")
    assert corpus.conditions["acoustic-condition"] == (None, None, None)


def test_slots_come_in_the_order_of_the_datasets_own_ontology(tmp_path: Path) -> None:
    turned = {**ONTOLOGY, "informable": dict(reversed(ONTOLOGY["informable"].items()))}
    written = write_dstc2(tmp_path, replace(small_dstc2(), ontology=turned))
    other = {**ONTOLOGY, "informable": {"food": []}}
    write_json(written.corpus / "scripts" / "config" / "ontology_dstc3.json", other)
    assert DSTC2.read_corpus(written.corpus).slots == SLOTS[::-1]


def test_the_tracker_by_hand(corpus: Corpus, tmp_path: Path) -> None:
    output = DSTC2.read_tracker(write_dstc2(tmp_path, small_dstc2()).tracker, corpus)
    beliefs = beliefs_content(output.beliefs, corpus.vocabulary)
    assert beliefs[0] == [("thai", 0.75, True), ("greek", 0.125, False), (None, 0.125, False)]
    assert beliefs[1] == [(None, 1.0, True)]
    assert beliefs[4 + 3] == [("dontcare", 0.5, True), (None, 0.5, False)]  # None loses ties
    assert rows(output.joint.offsets, output.joint.none, output.joint.score, output.joint.correct)[:2] == [
        [(False, 0.75, True), (False, 0.125, False), (True, 0.125, False)],
        [(True, 1.0, False)],  # an empty list is None with 1
    ]
    assert output.given_joint.given.tolist() == [True, True, False, True, True]
    assert beliefs_content(output.method, corpus.vocabulary)[0] == [
        ("byconstraints", 0.875, True),
        (None, 0.125, False),
    ]
    # None is not the method called "none".
    assert beliefs_content(output.method, corpus.vocabulary)[2] == [(None, 1.0, False)]
    assert output.requested[0].tolist() == [0, 0, 0, 0.25, 0, 0, 0, 0]


def test_an_empty_joint_hypothesis_is_never_right(corpus: Corpus, tmp_path: Path) -> None:
    file = tracker(
        "dstc2_dev",
        {
            "one": [dstc2_turn({})] * 2,
            "two": [dstc2_turn({}, [hypothesis(0.75, {})])],  # where no goal is labelled
            "three": [dstc2_turn({})] * 2,
        },
    )
    output = DSTC2.read_tracker(write_json(tmp_path / "t.json", file), corpus)
    row = slice(*output.joint.offsets[2:4])
    assert output.joint.none[row].tolist() == [False, True]
    assert output.joint.correct[row].tolist() == [False, True]


def test_marginals_are_summed_out_where_only_a_joint_is_given(corpus: Corpus, tmp_path: Path) -> None:
    joint = [
        hypothesis(0.5, {"food": "thai", "area": "north"}),
        hypothesis(0.25, {"food": "thai"}),
        hypothesis(0.125, {"area": "south"}),
    ]
    output = read(corpus, tmp_path, dstc2_turn({}, joint))
    assert output.turns_with_joint_only.tolist() == [True, False, False, False, False]
    marginals = beliefs_content(output.marginals(corpus), corpus.vocabulary)
    assert marginals[0] == [("thai", 0.75, True), (None, 0.25, False)]
    assert marginals[3] == [("north", 0.5, False), (None, 0.375, True), ("south", 0.125, False)]
    # The official component scores do not do that.
    assert beliefs_content(output.beliefs, corpus.vocabulary)[0] == [(None, 1.0, False)]
    assert joint_content(output.given_joint, corpus.vocabulary)[0][1][1] == (("thai", None, None, None), 0.25)


def test_repairs_name_their_place(corpus: Corpus, tmp_path: Path) -> None:
    output = read(
        corpus,
        tmp_path,
        dstc2_turn(
            {"food": {"thai": 0.75, "greek": 0.75}, "area": {"north": -0.5}},
            [hypothesis(2.0, {})],
            {"none": 1.5},
            {"phone": 1.5, "addr": 0.5},
        ),
    )
    assert [(p.severity, p.session, p.turn, p.slot) for p in output.problems] == [
        ("repair", "one", 0, slot) for slot in ("area", "food", "joint", "method", "phone")
    ]
