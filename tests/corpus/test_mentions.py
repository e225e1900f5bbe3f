"""What a system turn does, and which slots it speaks of, on calls written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.mentions import mentioned_slots
from tests.builders import act
from tests.corpus.bus_calls import bus_corpus, restaurant_corpus, said

Turn = list[tuple[str, list[tuple[str, Any]]]]


def bus(*turns: Turn) -> Corpus:
    return bus_corpus([said([act(name, *pairs) for name, pairs in turn]) for turn in turns])


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
def test_bus(turn: Turn, expected: str | None) -> None:
    assert predicates(bus(turn)) == [expected]


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
def test_restaurants(turn: Turn, expected: str) -> None:
    assert predicates(restaurant_corpus(said([act(name, *pairs) for name, pairs in turn]))) == [expected]


def test_turns_do_not_mix() -> None:
    corpus = bus([("hello", [])], [], [("bye", [])])
    assert predicates(corpus) == ["hello", None, "goodbye"]


def test_slots_are_mentioned_by_any_of_their_names() -> None:
    """date.day is about date; that the system asks for a slot by name does not mention it."""
    corpus = bus(
        [("expl-conf", [("date.day", "monday"), ("route", "61c")])],
        [("request", [("slot", "time")]), ("hello", [])],
        [],
    )
    names = [("date", "date.day"), ("route",), ("time",)]
    mentioned = mentioned_slots(names, corpus.system, corpus.vocabulary)
    assert mentioned.tolist() == [[True, True, False], [False] * 3, [False] * 3]
