"""What turns say, by hand and against the plain oracle; on real calls also by another program's counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extrinsic.arrays import row_of_each
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.evidence import Evidence
from extrinsic.metrics.scoring import score
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from tests.builders import act
from tests.corpus.bus_calls import (
    answered_bus_calls,
    answered_restaurant_calls,
    as_plain,
    bus_corpus,
    of_turn,
    oracle_of,
    plain,
    restaurant_corpus,
    said,
)
from tests.metrics.reading import read_dstc1, read_dstc2
from tests.oracles.real_data import read_dstc1_train3
from tests.real_data import needs_bus_calls, read_bus_calls
from tests.strategies import dstc1_files, dstc2_files

ROUTE = act("inform", ("route", "61c"))
OTHER = act("inform", ("route", "61d"))
YES, NO, BACK = act("affirm"), act("negate"), act("goback")
SEVEN = (("time.ampm", "pm"), ("time.hour", "7"))


def nothing(**said_of: Any) -> dict[str, Any]:
    """A row with nothing but what is named."""
    row = dict.fromkeys(("informed", "affirmed", "top", "denied", "rejected"), 0.0)
    return {**row, "rank": -1, "explicit": False, "implicit": False, **said_of}


def assert_equals_oracle(corpus: Corpus, logs: Iterable[Any]) -> None:
    evidence = corpus.evidence
    for turn, expected in enumerate(oracle_of(corpus, logs)):
        found, wanted = plain(corpus, evidence, turn), as_plain(expected)
        assert set(found) == set(wanted)
        for slot, rows in wanted.items():
            assert set(found[slot]) == set(rows)
            for value, row in rows.items():
                same = found[slot][value] == row or found[slot][value] == pytest.approx(row, abs=1e-12)
                assert same, (turn, slot, value)
            # Values that hypotheses inform come first, the best hypothesis first.
            informed = [value for value, row in rows.items() if row["rank"] >= 0]
            assert list(found[slot])[: len(informed)] == informed
        asked = {corpus.slots[column] for column in np.flatnonzero(evidence.requested[turn])}
        assert asked == expected.requested
        assert evidence.affirms[turn] == pytest.approx(expected.affirms, abs=1e-12)
        assert evidence.negates[turn] == pytest.approx(expected.negates, abs=1e-12)
        assert evidence.restart[turn] == expected.restart


@given(dstc1_files() | answered_bus_calls())
@settings(max_examples=75)
def test_bus_calls_equal_the_oracle(files: Any) -> None:
    assert_equals_oracle(read_dstc1(files)[0], files.logs.values())


@given(dstc2_files() | answered_restaurant_calls())
@settings(max_examples=50)
def test_restaurant_calls_equal_the_oracle(files: Any) -> None:
    assert_equals_oracle(read_dstc2(files)[0], files.logs.values())


def test_informed_is_summed_over_hypotheses() -> None:
    turn = said([], (0.5, [ROUTE]), (0.25, [OTHER]), (0.125, [ROUTE, YES]))
    assert of_turn(bus_corpus([turn])) == {
        "route": {
            "61c": nothing(informed=0.625, top=0.5, rank=0),
            "61d": nothing(informed=0.25, rank=1),
        }
    }


def test_batch_hypotheses_count_for_nothing() -> None:
    """Not even for the ranks of the live ones."""
    live = [(0.5, [ROUTE]), (0.25, [OTHER])]
    alone = bus_corpus([said([act("expl-conf", ("route", "61c"))], *live)])
    both = bus_corpus(
        [
            said(
                [act("expl-conf", ("route", "61c"))],
                *live,
                batch=[(0.9, [act("inform", ("route", "28x")), YES])],
            )
        ]
    )
    assert of_turn(both) == of_turn(alone)
    assert both.evidence.affirms.tolist() == [0.0]


def test_this_is_the_slot_just_asked_for() -> None:
    dontcare = act("inform", ("this", "dontcare"))
    corpus = restaurant_corpus(
        said([act("request", ("slot", "food")), act("request", ("slot", "area"))], (0.5, [dontcare])),
        said([act("reqmore")], (0.5, [dontcare])),
    )
    # Of two questions the last counts; without a question `this` is nothing.
    assert of_turn(corpus, 0) == {"area": {"dontcare": nothing(informed=0.5, top=0.5, rank=0)}}
    assert of_turn(corpus, 1) == {}


def test_what_a_question_asks_for() -> None:
    """A question may name several slots, a part of a slot, or a group; with a value it asks for nothing."""
    places = act("request", ("slot", "from.desc"), ("slot", "from.neighborhood"), ("slot", "from.monument"))
    hour, group = act("request", ("slot", "time.hour")), act("request", ("from", None))
    corpus = bus_corpus(
        [said([places]), said([hour]), said([group]), said([act("request", ("route", "61c"))])]
    )
    asked = [{corpus.slots[i] for i in np.flatnonzero(row)} for row in corpus.evidence.requested]
    from_anywhere = {"from.desc", "from.neighborhood", "from.monument"}
    assert asked == [from_anywhere, {"time"}, from_anywhere, set()]


def test_a_yes_informs_the_one_value_confirmed_explicitly() -> None:
    turn = said([act("expl-conf", ("route", "61c"))], (0.5, [YES]), (0.25, [ROUTE]))
    assert of_turn(bus_corpus([turn])) == {
        "route": {"61c": nothing(informed=0.75, affirmed=0.5, top=0.5, rank=0, explicit=True)}
    }


def test_a_no_denies_the_value_confirmed() -> None:
    explicit = said([act("expl-conf", ("route", "61c"))], (0.5, [NO]), (0.25, [NO, OTHER]))
    assert of_turn(bus_corpus([explicit])) == {
        "route": {
            "61d": nothing(informed=0.25, rank=1),
            "61c": nothing(denied=0.75, rejected=0.5, explicit=True),
        }
    }
    implicit = said([act("impl-conf", ("route", "61c"), ("from.desc", "cmu"))], (0.5, [NO]))
    assert of_turn(bus_corpus([implicit])) == {
        "route": {"61c": nothing(denied=0.5, rejected=0.5, implicit=True)},
        "from.desc": {"cmu": nothing(denied=0.5, rejected=0.5, implicit=True)},
    }


def test_a_no_beside_a_question_of_another_kind_answers_that() -> None:
    """Do you want the next buses? A "go back" is about what was confirmed nevertheless."""
    confirmed, question = act("impl-conf", ("to.desc", "cmu")), act("expl-conf", ("act", "want-next-bus"))
    said_no, back = (
        of_turn(bus_corpus([said([confirmed, question], (0.5, [answer]))])) for answer in (NO, BACK)
    )
    assert said_no == {"to.desc": {"cmu": nothing(implicit=True)}}
    assert back == {"to.desc": {"cmu": nothing(denied=0.5, rejected=0.5, implicit=True)}}


def test_the_parts_of_a_compound_slot_make_one_value_an_act() -> None:
    together = act("inform", ("time.hour", 7), ("route", "61c"), ("time.ampm", "pm"))
    assert of_turn(bus_corpus([said([], (0.5, [together]))])) == {
        "time": {SEVEN: nothing(informed=0.5, top=0.5, rank=0)},
        "route": {"61c": nothing(informed=0.5, top=0.5, rank=0)},
    }
    # Two acts are two values, of which the last stands; a part said twice in one act counts once.
    apart = [act("inform", ("time.hour", "7")), act("inform", ("time.ampm", "am"), ("time.ampm", "pm"))]
    assert of_turn(bus_corpus([said([], (0.5, apart))])) == {
        "time": {(("time.ampm", "pm"),): nothing(informed=0.5, top=0.5, rank=0)}
    }


@given(answered_bus_calls(), st.data())
@settings(max_examples=30)
def test_taken_turns_say_what_they_said(files: Any, data: Any) -> None:
    corpus = read_dstc1(files)[0]
    dialogs = data.draw(st.lists(st.integers(0, corpus.n_dialogs - 1), min_size=1, max_size=3))
    turns = np.concatenate([np.arange(*corpus.offsets[dialog : dialog + 2]) for dialog in dialogs])
    taken, gathered = corpus.evidence.take(turns), corpus.take(dialogs).evidence
    assert_same_evidence(taken, gathered)


def assert_same_evidence(first: Evidence, second: Evidence) -> None:
    for name in vars(first):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name


def test_compound_values_of_a_vocabulary_too_large_for_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of parts are compared as numbers where these are not too large, else as rows: the same values."""
    hour = act("inform", SEVEN[1])
    call = [said([], (0.5, [act("inform", *SEVEN)]), (0.2, [hour])), said([], (0.4, [hour, ROUTE]))]
    as_numbers = bus_corpus(call)
    assert as_numbers.evidence.n_turns == len(call)
    monkeypatch.setattr("extrinsic.corpus.mentions.LARGEST", 0)
    as_rows = bus_corpus(call)
    found = [[plain(corpus, corpus.evidence, turn) for turn in (0, 1)] for corpus in (as_numbers, as_rows)]
    assert found[0] == found[1]
    assert SEVEN in found[0][0]["time"]


N_TURNS = 8306
COUNTS = {
    "hello": 687,
    "offer": 1241,
    "next_bus": 723,
    "confirm_restart": 118,
    "canthelp": 262 + 180 + 83,
    "restart": 91,
    "help": 1079,
    "goodbye": 1,
}
SHARES = {"request": 0.213, "confirm": 0.126, "implicit_confirm": 0.123}
REQUESTS = {
    "route": 1509,
    "from": 1030,
    "to": 978,
    "date": 199,
    "time": 151,
    "to.neighborhood": 148,
    "from.neighborhood": 85,
}


@needs_bus_calls
def test_what_the_system_does() -> None:
    corpus = read_bus_calls()
    names = [corpus.domain.predicate_names[index] for index in corpus.predicate]
    counted = Counter(names)
    assert (corpus.predicate >= 0).all() and counted.total() == N_TURNS
    assert set(counted) == {*COUNTS, *SHARES}
    assert {name: counted[name] for name in COUNTS} == COUNTS
    assert {name: counted[name] / N_TURNS for name in SHARES} == pytest.approx(SHARES, abs=0.0006)


@needs_bus_calls
def test_every_caller_hangs_up() -> None:
    assert not read_bus_calls().system_ended.any()


@needs_bus_calls
def test_the_evidence_of_every_turn_equals_the_oracle() -> None:
    assert_equals_oracle(read_bus_calls(), read_dstc1_train3()[0])


@needs_bus_calls
def test_every_request_is_seen() -> None:
    """4,100, most of which name a group: a question for `from` is one for all its slots."""
    asked = Counter(
        name
        for call in read_dstc1_train3()[0]
        for turn in call["turns"]
        for act in turn["output"]["dialog-acts"]
        if act["act"] == "request"
        for name, _ in act["slots"]
    )
    assert asked == REQUESTS and asked.total() == 4100
    corpus = read_bus_calls()
    requested = corpus.evidence.requested
    assert np.count_nonzero(requested.any(axis=1)) == 4100
    seen = dict(zip(corpus.slots, requested.sum(axis=0).tolist(), strict=True))
    assert seen == {
        "route": 1509,
        **{f"from.{name}": 1030 for name in ("desc", "monument")},
        **{f"to.{name}": 978 for name in ("desc", "monument")},
        "from.neighborhood": 1030 + 85,
        "to.neighborhood": 978 + 148,
        "date": 199,
        "time": 151,
    }


@needs_bus_calls
def test_a_no_to_the_next_bus_question() -> None:
    """'Okay, Squirrel Hill. Do you want times for the next few buses?' 'No': the destination stands."""
    corpus = read_bus_calls()
    turn = int(corpus.offsets[corpus.sessions.index("dt-201007221929-44095")]) + 3
    assert corpus.evidence.negates[turn] == pytest.approx(0.68883)
    (row,) = of_turn(corpus, turn)["to.desc"].values()
    assert row["implicit"] and row["denied"] == row["rejected"] == 0.0


@needs_bus_calls
def test_no_to_another_question_denies_nothing() -> None:
    """431 turns have the form of that one."""
    corpus = without_undo(read_bus_calls())
    evidence = corpus.evidence
    turn_of_row = row_of_each(evidence.offsets) // len(corpus.slots)
    asks = np.isin(
        corpus.predicate, [corpus.domain.predicate_names.index(name) for name in corpus.domain.yes_no]
    )
    beside = evidence.implicit & asks[turn_of_row]
    assert len(np.unique(turn_of_row[beside])) == 431
    assert (evidence.negates[turn_of_row[beside]] > 0.5).sum() > 50
    assert not evidence.denied[beside].any()


def without_undo(corpus: Corpus) -> Corpus:
    """The calls in a domain where `goback` means nothing."""
    domain = corpus.domain
    user = msgspec.structs.replace(domain.user, undo=())
    return replace(corpus, domain=msgspec.structs.replace(domain, user=user))


@needs_bus_calls
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("hwu", 0.597, 0.660),
        ("yarbus_implicit", 0.637, 0.706),
        ("dempster_shafer", 0.599, 0.660),
        ("confirm_aware", 0.581, 0.642),
    ],
)
def test_joint_accuracy_at_the_end(name: str, before: float, after: float) -> None:
    """On half b, by another program: before, a no to the next-bus question was booked against the
    destination. That `goback` is a no as well, which was not known then, makes none of them worse."""
    calls = read_bus_calls("train3_b")
    plain, ours = (joint_accuracy(corpus, name) for corpus in (without_undo(calls), calls))
    assert plain == pytest.approx(after, abs=0.0006)
    assert ours >= plain > before + 0.05


def joint_accuracy(corpus: Corpus, name: str) -> float:
    rows = score(corpus, track(TRACKERS.get(name), corpus, name)).rows
    (row,) = (row for row in rows if (row.component, row.metric, row.schedule) == ("joint", "accuracy", 3))
    assert row.n == 377 and row.value is not None
    return row.value


@needs_bus_calls
def test_calls_that_a_study_leaves_out() -> None:
    """Those with a restart or a canthelp, by the acts and flags of the logs; the rest is the list `plain`."""
    corpus = read_bus_calls()
    begun_anew = [
        call["session-id"]
        for call in read_dstc1_train3()[0]
        if any(
            turn["restart"] or act["act"].startswith(("restart", "canthelp"))
            for turn in call["turns"]
            for act in turn["output"]["dialog-acts"]
        )
    ]
    assert [corpus.sessions[dialog] for dialog in np.flatnonzero(corpus.excluded)] == begun_anew
    assert len(begun_anew) == 240
    kept = corpus.take(np.flatnonzero(~corpus.excluded))
    assert set(kept.sessions) == set(read_bus_calls("train3_plain").sessions)
