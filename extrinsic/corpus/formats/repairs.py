"""Reporting the repairs that the scoring rules made to a tracker file, item by item."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.hypotheses import Hypotheses, JointHypotheses
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.ranking import ROUNDING, Ranking
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import Problems


def report_repairs(
    problems: Problems,
    corpus: Corpus,
    ranking: Ranking,
    hypotheses: Hypotheses | JointHypotheses,
    slots: Sequence[str],
) -> None:
    """Report negative scores and sums above 1; items are turn-major over `slots`."""
    for hypothesis in np.flatnonzero(ranking.negative):
        item = int(np.searchsorted(hypotheses.offsets, hypothesis, side="right")) - 1
        written = f"{hypotheses.score[hypothesis]:.6g}"
        if isinstance(hypotheses, Hypotheses):
            written += f" for {corpus.vocabulary.text(int(hypotheses.value[hypothesis]))!r}"
        message = f"a negative score, which {corpus.conventions.negative_score}"
        _report(problems, corpus, item, slots, message, "a score of at least 0", written)
    for item in np.flatnonzero(ranking.excess).tolist():
        message = "the scores sum to more than 1, so each is divided by their sum"
        _report(problems, corpus, item, slots, message, "a sum of at most 1", f"{ranking.total[item]:.6g}")


def report_requested_repairs(problems: Problems, corpus: Corpus, requested: Floats) -> None:
    """Report probabilities of requested slots outside [0, 1]; the challenge scores them unchanged."""
    for turn, column in zip(*np.nonzero((requested < 0) | (requested - 1.0 >= ROUNDING)), strict=True):
        _report(
            problems,
            corpus,
            int(turn),
            [corpus.requestable[column]],
            "the probability of a requested slot is outside [0, 1], and is scored as it stands",
            "a number from 0 to 1",
            f"{requested[turn, column]:.6g}",
        )


def note_joint_only(problems: Problems, output: TrackerOutput) -> None:
    """Note a file whose scores of single slots say nothing of the tracker."""
    if output.joint_only:
        add_joint_only(problems)


def add_joint_only(problems: Problems) -> None:
    problems.add(
        "the file has joint hypotheses only: by the challenge's rules every belief about a single slot "
        "is None, so that scores by slot say nothing of the tracker",
        expected="beliefs about single slots beside the joint ones",
        severity="note",
    )


def note_unlabelled(problems: Problems, corpus: Corpus, items: Ints) -> None:
    """Note the (turn, slot) items of unlabelled hypotheses, which count as wrong; one note per slot."""
    n_slots = len(corpus.slots)
    for column, slot in enumerate(corpus.slots):
        turns = items[items % n_slots == column] // n_slots
        if len(turns) == 0:
            continue
        dialog = int(corpus.dialog_of_turn[turns[0]])
        problems.add(
            f"{len(turns)} hypotheses were not labelled by their turn and count as wrong; the first is here",
            session=corpus.sessions[dialog],
            turn=int(corpus.turn_in_dialog[turns[0]]),
            slot=slot,
            severity="note",
        )


def _report(
    problems: Problems,
    corpus: Corpus,
    item: int,
    slots: Sequence[str],
    message: str,
    expected: str,
    found: str,
) -> None:
    turn, slot = divmod(item, len(slots))
    problems.add(
        message,
        session=corpus.sessions[corpus.dialog_of_turn[turn]],
        turn=int(corpus.turn_in_dialog[turn]),
        slot=slots[slot],
        expected=expected,
        found=found,
        severity="repair",
    )
