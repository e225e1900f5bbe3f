"""Bus calls for policies: what the system said, what was heard, and what a tracker believed after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from tests.builders import (
    Dstc1Files,
    act,
    dstc1_labels,
    dstc1_turn,
    heard,
    hypothesis,
    log,
    log_turn,
    tracker,
)
from tests.metrics.reading import read_dstc1

StateActions = Mapping[str, Any]

CMU, FORBES = {"from.desc": "cmu"}, {"from.desc": "forbes"}
OAK, ZOO = {"to.desc": "oak"}, {"to.monument": "zoo"}
SEVEN = {"time.hour": "7"}

HELLO, ASK, BYE = [act("hello")], [act("request", ("slot", "to.desc"))], [act("bye")]
CONFIRM, OFFER, NEXT = [act("expl-conf", ("from.desc", "cmu"))], [act("schedule")], [act("want-next-bus")]


@dataclass(frozen=True)
class Turn:
    """system: its acts.   live: hypotheses of the recogniser.   beliefs: slot group -> [(score, pairs)]."""

    system: Sequence[Any]
    live: Sequence[Any] = ()
    beliefs: Mapping[str, Sequence[tuple[float, StateActions]]] = field(default_factory=dict)

    def written(self) -> Any:
        return dstc1_turn(
            **{slot: [hypothesis(score, pairs) for score, pairs in of] for slot, of in self.beliefs.items()}
        )


def files_of(calls: Mapping[str, Sequence[Turn]]) -> Dstc1Files:
    """Calls by session; nobody labelled anything."""
    logs, labels, beliefs = {}, {}, {}
    for session, turns in calls.items():
        written = [log_turn(number, turn.system, turn.live) for number, turn in enumerate(turns)]
        logs[f"calls/{session}"] = log(session, written)
        labels[f"calls/{session}"] = dstc1_labels(session, [[] for _ in turns])
        beliefs[session] = [turn.written() for turn in turns]
    return Dstc1Files("train4", logs, labels, tracker("train4", beliefs))


def read(*calls: Sequence[Turn], **named: Sequence[Turn]) -> tuple[Corpus, TrackerOutput]:
    """Calls called call-0, call-1, ..., and such with names."""
    return read_dstc1(files_of({**{f"call-{i}": call for i, call in enumerate(calls)}, **named}))


def whole_call() -> list[Turn]:
    """Greeting, question, the same confirmation twice, offer, another bus, goodbye."""
    early = {"from.desc": [(0.7, CMU), (0.2, FORBES)]}
    places = {**early, "to.desc": [(0.3, OAK)], "to.monument": [(0.6, ZOO)]}
    sure = {**places, "from.desc": [(0.95, CMU)]}
    late = {**sure, "time": [(0.4, SEVEN)]}
    yes, no, news = (act("affirm"), act("negate"), act("inform", ("time.hour", "7")))
    return [
        Turn(HELLO, [heard(0.7, act("inform", ("from.desc", "cmu")))], early),
        Turn(ASK, [heard(0.6, act("inform", ("to.monument", "zoo")))], places),
        Turn(CONFIRM, [heard(0.9, yes), heard(0.05, no)], sure),
        Turn(CONFIRM, [heard(0.4, news), heard(0.3, no)], late),
        Turn(OFFER, [], late),
        Turn(NEXT, [heard(0.8, yes)], late),
        Turn(NEXT, [heard(0.8, no)], late),
        Turn(BYE, [], late),
    ]
