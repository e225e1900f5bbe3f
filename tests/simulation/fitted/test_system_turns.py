"""What the system said, read from its acts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from extrinsic.corpus.formats import DSTC1, DSTC2
from extrinsic.corpus.model import Corpus
from extrinsic.simulation.fitted.logged_values import LoggedValues, number_values
from extrinsic.simulation.fitted.system_turns import SystemTurns, read_system_turns, system_mentions
from extrinsic.simulation.utterance import NOTHING
from tests.builders import (
    ONTOLOGY,
    Dstc1Files,
    Dstc2Files,
    Json,
    act,
    dstc1_labels,
    dstc2_label_turn,
    dstc2_labels,
    heard,
    log,
    log_turn,
    tracker,
    write_dstc1,
    write_dstc2,
)


def read(corpus: Corpus) -> tuple[LoggedValues, SystemTurns]:
    evidence = corpus.evidence
    item = np.repeat(np.arange(len(evidence.offsets) - 1), np.diff(evidence.offsets))
    mentions = system_mentions(corpus)
    parts = [(item % evidence.n_slots, evidence.value), (mentions.offered.slot, mentions.offered.value)]
    values = number_values(corpus.domain, corpus.slots, corpus.vocabulary, parts)
    return values, read_system_turns(corpus, values, mentions)


def text(values: LoggedValues, number: int) -> str | None:
    return None if number == NOTHING else values.vocabulary.text(int(values.identity[number]))


def call_of(turns: list[tuple[list[Json], list[Json]]]) -> Json:
    """Each turn: the system's acts, and those of the only hypothesis about the answer."""
    return log("one", [log_turn(i, system, [heard(0.9, *said)]) for i, (system, said) in enumerate(turns)])


@pytest.fixture
def bus_call(tmp_path: Path) -> Corpus:
    turns = [
        ([act("hello"), act("request", ("slot", "route"))], [act("inform", ("route", "61c"))]),
        (
            [act("impl-conf", ("route", "61c")), act("request", ("slot", "from.desc"))],
            [act("inform", ("from.desc", "cmu"))],
        ),
        ([act("expl-conf", ("from.desc", "cmu"))], [act("affirm")]),
        ([act("schedule", ("result.route", "61c"), ("result.from.desc", "forbes"))], [act("bye")]),
    ]
    files = Dstc1Files(
        "calls",
        {"one": call_of(turns)},
        {"one": dstc1_labels("one", [[] for _ in turns])},
        tracker("calls", {}),
    )
    return DSTC1.read_corpus(write_dstc1(tmp_path, files).corpus, "calls")


def test_questions_and_confirmations_of_a_bus_call(bus_call: Corpus) -> None:
    values, said = read(bus_call)
    groups = list(bus_call.domain.groups)
    assert said.asked.tolist() == [groups.index("route"), groups.index("from"), NOTHING, NOTHING]
    assert [text(values, number) for number in said.implicit] == [None, "61c", None, None]
    assert [text(values, number) for number in said.explicit] == [None, None, "cmu", None]
    assert said.offers.tolist() == [False, False, False, True]


def test_an_offer_is_for_what_was_heard_and_not_for_what_was_found(bus_call: Corpus) -> None:
    values, said = read(bus_call)
    offered = {text(values, number) for number in said.offered[3]}
    assert offered == {"61c", None}  # forbes is a stop that nobody mentioned


def test_facts_offers_and_refusals_of_a_restaurant_call(tmp_path: Path) -> None:
    turns = [
        ([act("welcomemsg")], [act("inform", ("food", "thai"))]),
        ([act("canthelp", ("food", "thai"))], [act("inform", ("food", "greek"))]),
        (
            [act("offer", ("name", "nandos")), act("inform", ("food", "greek"))],
            [act("request", ("slot", "phone"))],
        ),
        ([act("offer", ("name", "nandos")), act("inform", ("phone", "123"))], [act("bye")]),
    ]
    files = Dstc2Files(
        "calls",
        {
            "one": log(
                "one", [log_turn(i, system, [heard(0.9, *said)]) for i, (system, said) in enumerate(turns)]
            )
        },
        {"one": dstc2_labels("one", [dstc2_label_turn({"food": "greek"}) for _ in turns])},
        tracker("calls", {}),
        ONTOLOGY,
    )
    corpus = DSTC2.read_corpus(write_dstc2(tmp_path, files).corpus, "calls")
    values, said = read(corpus)
    assert said.refuses.tolist() == [False, True, False, False]
    assert said.offers.tolist() == [False, False, True, False]
    food = list(corpus.domain.groups).index("food")
    assert [text(values, number) for number in said.offered[:, food]] == [None, "thai", "greek", None]
    told = [[corpus.requestable[column] for column in np.flatnonzero(row)] for row in said.tells]
    assert told == [[], [], ["food", "name"], ["phone"]]
