"""What a system turn does, and which slots it speaks of, on acts written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from extrinsic.corpus.acts import ActsBuilder
from extrinsic.corpus.formats.logs import WrittenAct
from extrinsic.corpus.predicates import mentioned_slots, predicate_of_turns
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.domain import load_domain

Turn = list[tuple[str, list[tuple[str, Any]]]]


def predicates(domain_name: str, *turns: Turn) -> list[str | None]:
    domain, vocabulary, builder = load_domain(domain_name), Vocabulary(), ActsBuilder()
    for turn in turns:
        builder.add([WrittenAct(name, pairs) for name, pairs in turn])
    found = predicate_of_turns(domain, builder.build(vocabulary), vocabulary)
    return [None if index < 0 else domain.predicate_names[index] for index in found]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ([("hello", []), ("request", [("slot", "route")])], "request"),
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
    assert predicates("bus", turn) == [expected]


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
    assert predicates("restaurants", turn) == [expected]


def test_turns_do_not_mix() -> None:
    assert predicates("bus", [("hello", [])], [], [("bye", [])]) == ["hello", None, "goodbye"]


def test_mentioned_slots_match_by_prefix() -> None:
    vocabulary, builder = Vocabulary(), ActsBuilder()
    builder.add([WrittenAct("expl-conf", [("date.day", "monday"), ("route", "61c")])])
    builder.add([WrittenAct("request", [("slot", "time")]), WrittenAct("hello", [])])
    builder.add([])
    found = mentioned_slots(("date", "route", "time"), builder.build(vocabulary), vocabulary)
    assert found.tolist() == [[True, True, False], [False] * 3, [False] * 3]
