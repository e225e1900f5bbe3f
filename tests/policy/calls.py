"""Bus calls for policies: what the system said, what was heard, and what a tracker believed after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from tests.builders import act, heard
from tests.metrics.calls import Pairs, Turn, files_of
from tests.metrics.reading import read_dstc1

CMU, FORBES = {"from.desc": "cmu"}, {"from.desc": "forbes"}
OAK, ZOO = {"to.desc": "oak"}, {"to.monument": "zoo"}
SEVEN = {"time.hour": "7"}

HELLO, ASK, BYE = [act("hello")], [act("request", ("slot", "to.desc"))], [act("bye")]
CONFIRM, OFFER, NEXT = [act("expl-conf", ("from.desc", "cmu"))], [act("schedule")], [act("want-next-bus")]


def said(
    system: Sequence[Any], live: Sequence[Any] = (), beliefs: Mapping[str, Sequence[tuple[float, Pairs]]] = {}
) -> Turn:
    """A turn that nobody labelled."""
    return Turn(beliefs, system=system, live=live)


def read(*calls: Sequence[Turn], **named: Sequence[Turn]) -> tuple[Corpus, TrackerOutput]:
    return read_dstc1(files_of(*calls, **named))


def whole_call() -> list[Turn]:
    """Greeting, question, the same confirmation twice, offer, another bus, goodbye."""
    early = {"from.desc": [(0.7, CMU), (0.2, FORBES)]}
    places = {**early, "to.desc": [(0.3, OAK)], "to.monument": [(0.6, ZOO)]}
    sure = {**places, "from.desc": [(0.95, CMU)]}
    late = {**sure, "time": [(0.4, SEVEN)]}
    yes, no, news = (act("affirm"), act("negate"), act("inform", ("time.hour", "7")))
    return [
        said(HELLO, [heard(0.7, act("inform", ("from.desc", "cmu")))], early),
        said(ASK, [heard(0.6, act("inform", ("to.monument", "zoo")))], places),
        said(CONFIRM, [heard(0.9, yes), heard(0.05, no)], sure),
        said(CONFIRM, [heard(0.4, news), heard(0.3, no)], late),
        said(OFFER, [], late),
        said(NEXT, [heard(0.8, yes)], late),
        said(NEXT, [heard(0.8, no)], late),
        said(BYE, [], late),
    ]
