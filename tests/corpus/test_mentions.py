"""What a system turn does, and which slots it speaks of, on calls written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.mentions import mentioned_slots
from tests.builders import act
from tests.corpus.bus_calls import bus_corpus, restaurant_corpus, said

Turn = list[tuple[str, list[tuple[str, Any]]]]


def bus(*turns: Turn) -> Corpus:
    return bus_corpus([said([act(name, *pairs) for name, pairs in turn]) for turn in turns])


def restaurants(*turns: Turn) -> Corpus:
    return restaurant_corpus(*(said([act(name, *pairs) for name, pairs in turn]) for turn in turns))


def predicates(corpus: Corpus) -> list[str | None]:
    return [None if index < 0 else corpus.domain.predicate_names[index] for index in corpus.predicate]


@pytest.mark.parametrize(
    ("task", "turn", "expected"),
    [
        # A greeting is no decision, whatever question it ends with.
        (bus, [("hello", []), ("request", [("slot", "route")])], "hello"),
        (bus, [("request", [("slot", "route")])], "request"),
        (bus, [("impl-conf", [("route", "61c")]), ("request", [("slot", "time")])], "implicit_confirm"),
        (bus, [("expl-conf", [("route", "61c")])], "confirm"),
        (bus, [("expl-conf", [("route", "61c")]), ("schedule", [])], "offer"),
        (bus, [("schedule", []), ("bye", [])], "goodbye"),
        (bus, [("want-next-bus", [])], "next_bus"),
        (bus, [("never-heard-of", [])], None),
        (bus, [], None),
        (restaurants, [("welcomemsg", [])], "welcome"),
        (restaurants, [("impl-conf", [("food", "thai")]), ("request", [("slot", "area")])], "request"),
        (restaurants, [("select", [("food", "thai"), ("food", "greek")])], "confirm"),
        (restaurants, [("offer", [("name", "nandos")])], "present"),
        # An answer comes with an offer act; that inform speaks of food only is no answer.
        (restaurants, [("offer", [("name", "nandos")]), ("inform", [("phone", "1")])], "inform"),
        (restaurants, [("offer", [("name", "nandos")]), ("inform", [("food", "thai")])], "present"),
        (restaurants, [("inform", [("food", "thai")])], "other"),
        (restaurants, [("canthelp", [("food", "thai"), ("area", "north")])], "present"),
    ],
)
def test_what_a_turn_does(task: Callable[..., Corpus], turn: Turn, expected: str | None) -> None:
    assert predicates(task(turn)) == [expected]


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
