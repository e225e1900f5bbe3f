"""What is known of a call so far, what each side speaks of and asks for, on calls short enough to follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from extrinsic.arrays import turns_in_step
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.history import AFFIRMED, NOT_AFFIRMED, NOT_ASKED, History, wording_of
from extrinsic.corpus.mentions import mentioned_slots
from extrinsic.corpus.requests import Rule, method_hypotheses, track_requests
from tests.builders import act, heard
from tests.corpus.bus_calls import bus_corpus, restaurant_corpus, said
from tests.trackers.calls import restaurant_calls

YES, NO = act("affirm"), act("negate")


def histories(corpus: Corpus) -> Iterator[History]:
    """The history after every turn of all dialogs, which are of equal length."""
    history = History.of(corpus.n_dialogs, len(corpus.slots))
    for active, turns in turns_in_step(corpus.offsets, np.arange(corpus.n_dialogs)):
        history.step(
            corpus.domain,
            active,
            corpus.predicate[turns],
            corpus.system.take(turns),
            corpus.evidence.take(turns),
        )
        yield history.take(np.arange(corpus.n_dialogs))


def follow(*turns: Any) -> tuple[Corpus, list[History]]:
    corpus = bus_corpus(turns)
    return corpus, list(histories(corpus))


def kept(corpus: Corpus, history: History, name: str) -> dict[str, Any]:
    """slot -> value of those that are set."""
    row = getattr(history, name)[0]
    return {corpus.slots[i]: corpus.vocabulary.value(int(row[i])) for i in np.flatnonzero(row)}


def test_turns_predicates_and_requests() -> None:
    ask = act("request", ("slot", "route"))
    corpus, found = follow(
        said([act("hello"), ask]), said([ask]), said([act("request", ("slot", "time.hour"))]), said([])
    )
    names = corpus.domain.predicate_names
    assert [history.turn[0] for history in found] == [1, 2, 3, 4]
    named = [names.index(name) for name in ("hello", "request", "request")]
    assert [history.predicate[0] for history in found] == [*named, -1]
    columns = [corpus.slots.index(slot) for slot in ("route", "time")]
    assert [history.requests[0, columns].tolist() for history in found] == [[1, 0], [2, 0], [2, 1], [2, 1]]
    assert found[-1].requests.sum() == 3


def test_a_streak_is_of_the_very_same_words() -> None:
    ask, other = act("request", ("slot", "route")), act("request", ("slot", "time"))
    _, found = follow(*[said([ask])] * 3, said([other]), said([ask]), said([ask, other]), said([other, ask]))
    # In another order it is the same to a caller.
    assert [history.streak[0] for history in found] == [1, 2, 3, 1, 1, 1, 2]


def test_wording_tells_apart_name_slot_and_value() -> None:
    turns = [
        [act("expl-conf", ("from.desc", "a"))],
        [act("impl-conf", ("from.desc", "a"))],
        [act("expl-conf", ("to.desc", "a"))],
        [act("expl-conf", ("from.desc", "b"))],
        [act("expl-conf", ("from.desc", "a")), act("expl-conf", ("from.desc", "a"))],
        [],
        [act("expl-conf", ("from.desc", "a"))],
    ]
    wording = wording_of(bus_corpus([said(turn) for turn in turns]).system)
    assert len(set(wording.tolist())) == 6
    assert wording[0] == wording[6]


def test_a_yes_confirms_and_a_no_takes_it_back() -> None:
    confirm, imply = act("expl-conf", ("route", "61c")), act("impl-conf", ("route", "61c"))
    corpus, found = follow(
        said([confirm], (0.5, [YES])),  # not above one half
        said([confirm], (0.6, [YES]), (0.4, [NO])),
        said([act("open-request")], (0.9, [NO])),  # nothing was confirmed here
        said([confirm], (0.5, [NO])),
        said([imply], (0.75, [NO])),
    )
    assert [kept(corpus, history, "confirmed") for history in found] == [{}, *[{"route": "61c"}] * 3, {}]
    assert [history.affirms[0] for history in found] == [0.5, 0.6, 0, 0, 0]
    assert [history.negates[0] for history in found] == [0, 0.4, 0.9, 0.5, 0.75]


def test_a_value_is_implied_unless_it_is_objected_to() -> None:
    imply = act("impl-conf", ("from.desc", "cmu"), ("route", "61c"))
    corpus, found = follow(
        said([imply], (0.5, [NO])),
        said([act("impl-conf", ("route", "61d"))], (0.6, [NO])),
        said([act("open-request")], (0.9, [act("deny", ("from.desc", "cmu"))])),
    )
    assert [kept(corpus, history, "implied") for history in found] == [
        {"from.desc": "cmu", "route": "61c"},
        {"from.desc": "cmu", "route": "61c"},
        {"route": "61c"},
    ]


def test_the_three_answers_to_a_yes_no_question() -> None:
    more = act("want-next-bus")
    _, found = follow(
        said([more], (0.5, [YES]), (0.25, [NO])),
        said([act("open-request")], (0.5, [YES])),
        said([more], (0.5, [NO])),
        said([more]),
        said([more], (0.5, [YES]), (0.5, [NO])),
    )
    assert [history.answer[0] for history in found] == [AFFIRMED, NOT_ASKED, *[NOT_AFFIRMED] * 3]


def test_offers_are_remembered_until_a_restart() -> None:
    corpus, found = follow(
        said([act("hello")]),
        said([act("schedule", ("route", "61c"))]),
        said([act("expl-conf", ("route", "61c")), act("request", ("slot", "time"))], (0.9, [YES])),
        said([act("restart")], restart=True),
    )
    assert [bool(history.offered[0]) for history in found] == [False, True, True, False]
    assert kept(corpus, found[2], "confirmed") == {"route": "61c"}
    assert kept(corpus, found[3], "confirmed") == {}
    assert (found[2].requests.sum(), found[3].requests.sum()) == (1, 0)
    assert found[3].turn.tolist() == [4]


def test_dialogs_do_not_mix() -> None:
    one = [said([act("schedule", ("route", "a"))]), said([act("want-next-bus")], (0.5, [YES]))]
    two = [said([act("expl-conf", ("route", "a"))], (0.9, [YES])), said([act("request", ("slot", "time"))])]
    alone = [list(histories(bus_corpus(turns)))[-1] for turns in (one, two)]
    both = list(histories(bus_corpus(one, two)))[-1]
    for row, history in enumerate(alone):
        for name in ("turn", "predicate", "streak", "requests", "offered", "answer", "affirms", "negates"):
            assert np.array_equal(getattr(both, name)[row], getattr(history, name)[0]), name
    assert [(both.confirmed[row] != 0).sum() for row in (0, 1)] == [0, 1]


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


PHONE = act("request", ("slot", "phone"))
THAI, NAMED = act("inform", ("food", "thai")), act("inform", ("name", "nandos"))


def phone(corpus: Corpus, rule: Rule) -> list[float]:
    return track_requests(corpus, rule).requested[:, corpus.requestable.index("phone")].tolist()


def methods(corpus: Corpus, rule: Rule) -> list[dict[str, float]]:
    found = method_hypotheses(corpus, track_requests(corpus, rule).method)
    return [
        {
            str(corpus.vocabulary.value(int(found.value[i]))): round(float(found.score[i]), 9)
            for i in range(*found.offsets[turn : turn + 2])
        }
        for turn in range(corpus.n_turns)
    ]


def test_what_is_asked_stays_asked_until_it_is_told() -> None:
    told = act("inform", ("phone", "01223"))
    corpus = restaurant_calls(
        [
            ([act("welcomemsg")], [heard(0.2, PHONE, PHONE), heard(0.1, PHONE)]),
            ([act("repeat")], [heard(0.9, act("null"))]),
            ([act("repeat")], [heard(0.2, PHONE)]),
            ([told], [heard(0.9, act("thankyou"))]),
            ([told], [heard(0.4, PHONE)]),
        ]
    )
    # Focus adds .2 twice to the .3 it has; when just told, .4 alone counts.
    assert phone(corpus, "focus") == pytest.approx([0.3, 0.3, 0.7, 0.0, 0.4])
    assert phone(corpus, "baseline") == pytest.approx([0.3, 0.3, 0.2, 0.0, 0.4])


def test_how_callers_search() -> None:
    corpus = restaurant_calls(
        [
            ([act("welcomemsg")], [heard(0.6, THAI), heard(0.3, act("null"))]),
            ([act("repeat")], [heard(0.5, act("null")), heard(0.5, act("reqalts"), THAI)]),
            ([act("repeat")], [heard(1.0, act("bye"))]),
        ]
    )
    # None keeps .4 beside .5 + .5 * .6: divided by 1.2.
    assert methods(corpus, "focus") == [
        {"byconstraints": 0.6, "none": 0.4},
        pytest.approx({"byconstraints": 0.3 / 1.2, "byalternatives": 0.5 / 1.2, "none": 0.4 / 1.2}),
        pytest.approx({"finished": 1 / (1 + 1 / 3), "none": (1 / 3) / (1 + 1 / 3)}),
    ]
    assert methods(corpus, "baseline") == [
        {"byconstraints": 0.6, "none": 0.3},
        {"byconstraints": 0.5, "byalternatives": 0.5},
        {"finished": 1.0},
    ]


@pytest.mark.parametrize(
    ("acts", "method"),
    [
        ([THAI, NAMED], "byname"),
        ([NAMED, act("reqalts")], "byalternatives"),
        ([act("reqalts"), act("bye")], "finished"),
        ([act("bye"), act("reqalts")], "byalternatives"),
        ([act("affirm")], "none"),
    ],
)
def test_which_act_decides(acts: list[object], method: str) -> None:
    corpus = restaurant_calls([([act("welcomemsg")], [heard(1.0, *acts)])])
    assert methods(corpus, "baseline") == [{method: 1.0}]
