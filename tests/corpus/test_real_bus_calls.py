"""What real calls say, on all 687 of DSTC1's train3: counts made by another program, and plain oracles."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from extrinsic.arrays import row_of_each
from extrinsic.corpus.corpus import Corpus
from extrinsic.metrics.scoring import score
from extrinsic.registry import TRACKERS
from extrinsic.trackers.track import track
from tests.corpus.bus_calls import of_turn
from tests.corpus.test_evidence import assert_equals_oracle
from tests.oracles.real_data import read_dstc1_train3
from tests.real_data import needs_bus_calls, read_bus_calls

pytestmark = needs_bus_calls

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


def test_what_the_system_does() -> None:
    corpus = read_bus_calls()
    names = [corpus.domain.predicate_names[index] for index in corpus.predicate]
    counted = Counter(names)
    assert (corpus.predicate >= 0).all() and counted.total() == N_TURNS
    assert set(counted) == {*COUNTS, *SHARES}
    assert {name: counted[name] for name in COUNTS} == COUNTS
    assert {name: counted[name] / N_TURNS for name in SHARES} == pytest.approx(SHARES, abs=0.0006)


def test_every_caller_hangs_up() -> None:
    assert not read_bus_calls().system_ended.any()


def test_the_evidence_of_every_turn_equals_the_oracle() -> None:
    assert_equals_oracle(read_bus_calls(), read_dstc1_train3()[0])


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


def test_a_no_to_the_next_bus_question() -> None:
    """'Okay, Squirrel Hill. Do you want times for the next few buses?' 'No': the destination stands."""
    corpus = read_bus_calls()
    turn = int(corpus.offsets[corpus.sessions.index("dt-201007221929-44095")]) + 3
    assert corpus.evidence.negates[turn] == pytest.approx(0.68883)
    (row,) = of_turn(corpus, turn)["to.desc"].values()
    assert row["implicit"] and row["denied"] == row["rejected"] == 0.0


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
