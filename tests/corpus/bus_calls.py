"""Calls written by hand, what their turns say as plain values, and random calls full of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hypothesis import strategies as st

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.evidence import Evidence
from tests.builders import (
    ONTOLOGY,
    Dstc1Files,
    Dstc2Files,
    act,
    dstc1_labels,
    dstc2_label_turn,
    dstc2_labels,
    heard,
    log,
    log_turn,
    tracker,
)
from tests.metrics.reading import read_dstc1, read_dstc2
from tests.oracles.evidence import TurnEvidence, evidence_of_turn
from tests.strategies import (
    BUS_SYSTEM_ACTS,
    BUS_USER_ACTS,
    GROUPS,
    PAIRS,
    RESTAURANT_SYSTEM_ACTS,
    RESTAURANT_USER_ACTS,
)

Heard = tuple[float, Sequence[Any]]

FIELDS = ("informed", "affirmed", "top", "denied", "rejected", "rank", "explicit", "implicit")


def said(
    system: Sequence[Any], *live: Heard, batch: Sequence[Heard] = (), restart: bool = False
) -> dict[str, Any]:
    """A turn: the system's acts, and (score, acts) of each hypothesis."""
    return {
        "system": list(system),
        "live": [heard(score, *acts) for score, acts in live],
        "batch": [heard(score, *acts) for score, acts in batch],
        "restart": restart,
    }


def bus_files(*calls: Sequence[Any]) -> Dstc1Files:
    """DSTC1 calls of turns as `said` makes them; `labels` of a turn may be added."""
    logs, labels, beliefs = {}, {}, {}
    for number, turns in enumerate(calls):
        session = f"call-{number}"
        logs[f"calls/{session}"] = log(
            session,
            [
                log_turn(index, turn["system"], turn["live"], turn["batch"], turn["restart"])
                for index, turn in enumerate(turns)
            ],
        )
        labels[f"calls/{session}"] = dstc1_labels(session, [turn.get("labels", []) for turn in turns])
        beliefs[session] = [{} for _ in turns]
    return Dstc1Files("train4", logs, labels, tracker("train4", beliefs))


def restaurant_files(*calls: Sequence[Any]) -> Dstc2Files:
    """DSTC2 calls that nobody labelled."""
    logs, labels, beliefs = {}, {}, {}
    for number, turns in enumerate(calls):
        session = f"voip-{number}"
        written = [log_turn(index, turn["system"], turn["live"]) for index, turn in enumerate(turns)]
        logs[f"Mar13_S0A0/{session}"] = log(session, written, dialog_manager=0)
        labels[f"Mar13_S0A0/{session}"] = dstc2_labels(session, [dstc2_label_turn({}) for _ in turns])
        beliefs[session] = [{"goal-labels": {}, "method-label": {}, "requested-slots": {}} for _ in turns]
    return Dstc2Files("dstc2_dev", logs, labels, tracker("dstc2_dev", beliefs), ONTOLOGY)


def bus_corpus(*calls: Sequence[Any]) -> Corpus:
    return read_dstc1(bus_files(*calls))[0]


def restaurant_corpus(*turns: Any) -> Corpus:
    return read_dstc2(restaurant_files(turns))[0]


def plain(corpus: Corpus, evidence: Evidence, turn: int) -> dict[str, dict[Any, dict[str, Any]]]:
    """slot -> value -> what is said of it, of one turn."""
    found: dict[str, dict[Any, dict[str, Any]]] = {}
    for column, slot in enumerate(corpus.slots):
        item = turn * len(corpus.slots) + column
        for row in range(evidence.offsets[item], evidence.offsets[item + 1]):
            value = corpus.vocabulary.value(int(evidence.value[row]))
            assert value not in found.get(slot, {}), "one row a value"
            found.setdefault(slot, {})[value] = {name: getattr(evidence, name)[row].item() for name in FIELDS}
    return found


def of_turn(corpus: Corpus, turn: int = 0) -> dict[str, dict[Any, dict[str, Any]]]:
    return plain(corpus, corpus.evidence, turn)


def oracle_of(corpus: Corpus, logs: Sequence[Any]) -> list[TurnEvidence]:
    """Of calls in a plain form, `logs`."""
    domain = corpus.domain
    parts = {slot.name: slot.parts for slot in domain.slots if slot.name in corpus.slots}
    # A pattern such as expl-conf(act=restart) is one of the forms that the oracle knows.
    questions = [act for act in domain.yes_no_acts if act != "expl-conf" and "(" not in act]
    return [
        evidence_of_turn(turn, parts, domain.groups, domain.user.undo, questions)
        for call in logs
        for turn in call["turns"]
    ]


def as_plain(found: TurnEvidence) -> dict[str, dict[Any, dict[str, Any]]]:
    return {slot: {value: asdict(row) for value, row in of.items()} for slot, of in found.rows.items()}


SCORES = st.sampled_from((0.5, 0.25, 0.125, 0.0625, 0.1, 0.3))


def nbest(acts: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Lists in any order of scores, with ties; some hypotheses say nothing."""
    hypotheses = st.tuples(SCORES, st.lists(acts, max_size=3)).map(lambda found: heard(found[0], *found[1]))
    return st.lists(hypotheses, max_size=4)


ANSWERS = st.sampled_from([act("affirm"), act("negate"), act("goback")])
BUS_SAID = st.one_of(
    BUS_USER_ACTS,
    ANSWERS,
    st.tuples(st.sampled_from(["deny", "inform"]), st.sampled_from(GROUPS).flatmap(PAIRS.__getitem__)).map(
        lambda found: act(found[0], *found[1].items())
    ),
    st.sampled_from(["61c", "cmu"]).map(lambda value: act("inform", ("this", value))),
)
CONFIRMED = st.tuples(
    st.sampled_from(["expl-conf", "impl-conf"]), st.sampled_from(GROUPS).flatmap(PAIRS.__getitem__)
).map(lambda found: act(found[0], *found[1].items()))

OTHER_QUESTIONS = st.sampled_from(
    [
        act("expl-conf", ("act", "want-next-bus")),
        act("expl-conf", ("act", "restart")),
        act("want-next-bus"),
        act("expl-conf", ("act", "restart"), ("route", "61c")),
        act("impl-conf", ("act", "want-next-bus")),
        act("request", ("from", None)),
        act("request", ("to.neighborhood", None)),
        act("request", ("slot", "to"), ("slot", "date")),
    ]
)


def several(turns: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """One or two calls of up to three turns."""
    return st.lists(st.lists(turns, min_size=1, max_size=3), min_size=1, max_size=2)


def answered_bus_calls() -> st.SearchStrategy[Dstc1Files]:
    """Confirmations and answers to them at nearly every turn."""
    turn = st.fixed_dictionaries(
        {
            "system": st.lists(st.one_of(CONFIRMED, OTHER_QUESTIONS, BUS_SYSTEM_ACTS), max_size=3),
            "live": nbest(BUS_SAID),
            "batch": nbest(BUS_SAID),
            "restart": st.booleans(),
        }
    )
    return several(turn).map(lambda calls: bus_files(*calls))


def answered_restaurant_calls() -> st.SearchStrategy[Dstc2Files]:
    turn = st.fixed_dictionaries(
        {
            "system": st.lists(RESTAURANT_SYSTEM_ACTS, max_size=3),
            "live": nbest(st.one_of(RESTAURANT_USER_ACTS, ANSWERS)),
        }
    )
    return several(turn).map(lambda calls: restaurant_files(*calls))
