"""What a system turn does, and which slots it speaks of, on calls written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.formats import DSTC1, DSTC2
from extrinsic.corpus.mentions import mentioned_slots
from tests.builders import (
    ONTOLOGY,
    Dstc1Files,
    Dstc2Files,
    act,
    dstc1_labels,
    dstc2_label_turn,
    dstc2_labels,
    log,
    log_turn,
    tracker,
    write_dstc1,
    write_dstc2,
)

Turn = list[tuple[str, list[tuple[str, Any]]]]


def call(turns: tuple[Turn, ...]) -> Any:
    acts = [[act(name, *pairs) for name, pairs in turn] for turn in turns]
    return log("call", [log_turn(number, said, []) for number, said in enumerate(acts)])


def bus(root: Path, *turns: Turn) -> Corpus:
    labels = dstc1_labels("call", [[] for _ in turns])
    files = Dstc1Files("train4", {"call": call(turns)}, {"call": labels}, tracker("train4", {}))
    return DSTC1.read_corpus(write_dstc1(root, files).corpus)


def restaurants(root: Path, *turns: Turn) -> Corpus:
    labels = dstc2_labels("call", [dstc2_label_turn({}) for _ in turns])
    files = Dstc2Files("dstc2_dev", {"call": call(turns)}, {"call": labels}, {}, ONTOLOGY)
    return DSTC2.read_corpus(write_dstc2(root, files).corpus)


def predicates(corpus: Corpus) -> list[str | None]:
    return [None if index < 0 else corpus.domain.predicate_names[index] for index in corpus.predicate]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        # A greeting is no decision, whatever question it ends with.
        ([("hello", []), ("request", [("slot", "route")])], "hello"),
        ([("request", [("slot", "route")])], "request"),
        ([("impl-conf", [("route", "61c")]), ("request", [("slot", "time")])], "implicit_confirm"),
        ([("expl-conf", [("route", "61c")])], "confirm"),
        ([("expl-conf", [("route", "61c")]), ("schedule", [])], "offer"),
        ([("schedule", []), ("bye", [])], "goodbye"),
        ([("want-next-bus", [])], "next_bus"),
        ([("never-heard-of", [])], None),
        ([], None),
    ],
)
def test_bus(tmp_path: Path, turn: Turn, expected: str | None) -> None:
    assert predicates(bus(tmp_path, turn)) == [expected]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ([("welcomemsg", [])], "welcome"),
        ([("impl-conf", [("food", "thai")]), ("request", [("slot", "area")])], "request"),
        ([("select", [("food", "thai"), ("food", "greek")])], "confirm"),
        ([("offer", [("name", "nandos")])], "present"),
        # An answer comes with an offer act; that inform speaks of food only is no answer.
        ([("offer", [("name", "nandos")]), ("inform", [("phone", "1")])], "inform"),
        ([("offer", [("name", "nandos")]), ("inform", [("food", "thai")])], "present"),
        ([("inform", [("food", "thai")])], "other"),
        ([("canthelp", [("food", "thai"), ("area", "north")])], "present"),
    ],
)
def test_restaurants(tmp_path: Path, turn: Turn, expected: str) -> None:
    assert predicates(restaurants(tmp_path, turn)) == [expected]


def test_turns_do_not_mix(tmp_path: Path) -> None:
    corpus = bus(tmp_path, [("hello", [])], [], [("bye", [])])
    assert predicates(corpus) == ["hello", None, "goodbye"]


def test_slots_are_mentioned_by_any_of_their_names(tmp_path: Path) -> None:
    """date.day is about date; that the system asks for a slot by name does not mention it."""
    corpus = bus(
        tmp_path,
        [("expl-conf", [("date.day", "monday"), ("route", "61c")])],
        [("request", [("slot", "time")]), ("hello", [])],
        [],
    )
    names = [("date", "date.day"), ("route",), ("time",)]
    mentioned = mentioned_slots(names, corpus.system, corpus.vocabulary)
    assert mentioned.tolist() == [[True, True, False], [False] * 3, [False] * 3]
