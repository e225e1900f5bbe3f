"""Which items of a bus call count: schedules 2 and 3 of DSTC1, worked out by hand."""

from __future__ import annotations

import pytest

from tests.builders import DSTC1_SLOTS, act, heard
from tests.metrics.calls import CallScores, Turn

C, CMU = {"route": "61c"}, {"from.desc": "cmu"}
ROUTE = act("inform", ("route", "61c"))
HEARD = [heard(0.5, ROUTE)]
POOLED = {"all", "joint"}
"""Wherever a slot has an item, so have these two."""


def test_schedule_1_is_every_turn() -> None:
    scores = CallScores([Turn(), Turn()], [Turn()])
    assert {slot: scores.n(slot) for slot in DSTC1_SLOTS} == dict.fromkeys(DSTC1_SLOTS, 3)
    assert (scores.n("joint"), scores.n("all")) == (3, 27)


@pytest.mark.parametrize("turn", [Turn(live=HEARD), Turn(batch=HEARD), Turn(system=[ROUTE])])
def test_schedule_2_takes_slots_that_anybody_named(turn: Turn) -> None:
    # It is about this very turn: the two others say nothing.
    scores = CallScores([Turn(), turn, Turn()])
    assert scores.on_schedule(2) == {"route", *POOLED}
    assert scores.n("route", 2) == scores.n("joint", 2) == scores.n("all", 2) == 1


def test_schedule_2_takes_parts_by_their_prefix() -> None:
    parts = act("inform", ("time.hour", "7"), ("date.day", "today"))
    assert CallScores([Turn(live=[heard(0.5, parts)])]).on_schedule(2) == {"time", "date", *POOLED}


def test_schedule_2_does_not_take_what_is_named_as_a_value() -> None:
    assert CallScores([Turn(system=[act("request", ("slot", "route"))])]).on_schedule(2) == set()


@pytest.mark.parametrize("dataset", ["train3a", "test3"])
def test_the_third_corpus_has_no_neighborhoods(dataset: str) -> None:
    oakland = act("inform", ("from.neighborhood", "oakland"))
    call = [Turn(live=[heard(0.5, oakland)]), Turn(live=HEARD)]
    scores = CallScores(call, dataset=dataset)
    # The neighborhood is never on schedule 2, and the stop is when its neighborhood is named.
    assert scores.on_schedule(2) == {"from.desc", "route", *POOLED}
    assert scores.n("joint", 2) == 2
    elsewhere = CallScores(call, dataset="train2")
    assert elsewhere.on_schedule(2) == {"from.neighborhood", "route", *POOLED}


def test_schedule_3_is_the_last_turn_of_slots_with_a_label() -> None:
    wrong = {"route": [(0.75, C)]}
    scores = CallScores([Turn(wrong, right=[C]), Turn(wrong, wrong=[CMU]), Turn()])
    # Labels so far, right or wrong, of any turn: route and from.desc. At the last turn None has 1 in both:
    # wrong for the route, right for from.desc.
    assert scores.on_schedule(3) == {"route", "from.desc", *POOLED}
    assert (scores["route", "accuracy", 3], scores["from.desc", "accuracy", 3]) == (0, 1)
    assert scores.n("route", 3) == scores.n("joint", 3) == 1
    assert scores["all", "accuracy", 3] == 1 / 2


def test_schedule_3_takes_the_turn_before_a_restart_too() -> None:
    belief = {"route": [(0.75, C)]}
    call = [Turn(belief, right=[C]), Turn(belief), Turn(belief, restart=True), Turn(belief)]
    scores = CallScores(call)
    # Turn 1 (its segment has a label; 61c is right) and turn 3, whose segment has none: it does not count.
    assert scores.n("route", 3) == 1
    assert scores["route", "accuracy", 3] == 1
    # With a label after the restart both ends count; 61c is right at the first end only.
    again = CallScores([*call[:3], Turn(belief, wrong=[C])])
    assert again.n("route", 3) == 2
    assert again["route", "accuracy", 3] == 1 / 2


def test_schedule_3_without_labels_has_no_values() -> None:
    scores = CallScores([Turn({"route": [(0.75, C)]})])
    assert scores.on_schedule(3) == set()
    assert (
        scores["route", "accuracy", 3] is scores["joint", "l2", 3] is scores["all", "roc.v1_eer", 3] is None
    )
