"""A session beside a stored corpus: the same turns, one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from extrinsic.corpus.formats.logs import write_acts
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.tracking import Tracker
from extrinsic.simulation import BeliefState, Session


def live_nbest(corpus: Corpus, turn: int) -> list[dict[str, Any]]:
    """The hypotheses of the live recogniser, as DSTC's JSON."""
    nbest = corpus.nbest
    return [
        {
            "slu-hyp": write_acts(corpus.vocabulary, nbest.acts, hypothesis),
            "score": float(nbest.score[hypothesis]),
        }
        for hypothesis in range(nbest.offsets[turn], nbest.offsets[turn + 1])
        if not nbest.batch[hypothesis]
    ]


def stored_beliefs(corpus: Corpus, output: TrackerOutput, turn: int) -> BeliefState:
    """What the tracker wrote about a turn."""

    def scores(hypotheses: Any, item: int) -> dict[Any, float]:
        rows = range(*hypotheses.offsets[item : item + 2])
        return {corpus.vocabulary.value(int(hypotheses.value[i])): float(hypotheses.score[i]) for i in rows}

    n_slots = len(corpus.slots)
    goals = {slot: scores(output.given, turn * n_slots + column) for column, slot in enumerate(corpus.slots)}
    return BeliefState(
        goals,
        dict(zip(corpus.requestable, output.requested[turn].tolist(), strict=True)),
        scores(output.given_method, turn),
        int(corpus.turn_in_dialog[turn]) + 1,
        {slot: max(values, key=lambda value: values[value]) for slot, values in goals.items() if values},
    )


def count_differences(tracker: Tracker, corpus: Corpus, output: TrackerOutput) -> tuple[int, int]:
    """How many turns differ, of how many: a session against the tracker's stored output, to the last bit."""
    session = Session(corpus.domain, tracker)
    differing = 0
    for turn in range(corpus.n_turns):
        if corpus.turn_in_dialog[turn] == 0:
            session.reset()
        system = write_acts(corpus.vocabulary, corpus.system, turn)
        beliefs = session.hear(system, live_nbest(corpus, turn), bool(corpus.restart[turn]))
        differing += beliefs != stored_beliefs(corpus, output, turn)
    return differing, corpus.n_turns


def some_dialogs(corpus: Corpus, n_dialogs: int) -> Corpus:
    """Dialogs evenly spread over a corpus."""
    return corpus.take(np.linspace(0, corpus.n_dialogs - 1, n_dialogs).astype(int))
