"""What the system knows of a call so far, followed by hand through short calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extrinsic.arrays import turns_in_step
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.history import AFFIRMED, NOT_AFFIRMED, NOT_ASKED, History, wording_of
from tests.builders import act
from tests.corpus.bus_calls import bus_corpus, said

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
