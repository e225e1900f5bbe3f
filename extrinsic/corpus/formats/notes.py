"""Repairs, notes and warnings about what was read: nothing of it is an error."""

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Floats, Ids, Ints
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.hypotheses import ROUNDING, Hypotheses, JointHypotheses, Ranking
from extrinsic.errors import LONGEST_FOUND, Problem, Problems, did_you_mean, shortened


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


def note_joint_only(problems: Problems, joint_only: bool) -> None:
    """Note a file whose scores of single slots say nothing of the tracker."""
    if not joint_only:
        return
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
        problems.add(
            f"{len(turns)} hypotheses were not labelled by their turn and count as wrong; the first is here",
            **corpus.place(turns[0]),
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
        **corpus.place(turn),
        slot=slots[slot],
        expected=expected,
        found=found,
        severity="repair",
    )


SCORE_ROUNDING = 1e-6


def warnings_of_scores(corpus: Corpus, path: str) -> list[Problem]:
    """One warning: how many hypotheses have a score outside of 0 to 1, and where the first is."""
    score = corpus.nbest.score
    outside = np.flatnonzero((score < -SCORE_ROUNDING) | (score > 1.0 + SCORE_ROUNDING))
    if not len(outside):
        return []
    turn = int(corpus.nbest.turn_of_hypothesis()[outside[0]])
    problem = Problem(
        f"{len(outside):,} of {len(score):,} recognised hypotheses have a score that is no probability; "
        "the first is here",
        path=path,
        **corpus.place(turn),
        expected="from 0 to 1 (are these logarithms?)",
        found=f"{score[outside[0]]:g}",
        severity="warning",
    )
    return [problem]


DONTCARE = "dontcare"
EXAMPLES = 3


def warn_of_values(problems: Problems, corpus: Corpus, what: str, turn: Ints, slot: Ints, value: Ids) -> None:
    """One warning for each slot: how often, in which values, what was probably meant; with the first place.

    turn, slot, value (n,): where each value is written and its id; slot: the column among corpus.slots.
    """
    informable = corpus.ontology.get("informable", {})
    for column, name in enumerate(corpus.slots):
        if name not in informable:
            continue
        rows = np.flatnonzero((slot == column) & (value != NONE))
        ids = np.unique(value[rows])
        written = {int(identity): corpus.vocabulary.text(int(identity)) for identity in ids}
        options = {*informable[name], DONTCARE}
        foreign = [identity for identity, text in written.items() if text not in options]
        if not foreign:
            continue
        places = rows[np.isin(value[rows], foreign)]
        first = int(turn[places].min())
        examples = [_example(written[identity], options) for identity in foreign[:EXAMPLES]]
        rest = f" and {len(foreign) - EXAMPLES:,} more" if len(foreign) > EXAMPLES else ""
        problems.add(
            f"{what}: {len(places):,} with values that the ontology lacks; the first is here",
            **corpus.place(first),
            slot=name,
            found=", ".join(examples) + rest,
            severity="warning",
        )


def _example(text: str, options: set[str]) -> str:
    hint = did_you_mean(text.strip(), options, limit=0)
    return f"{shortened(text, LONGEST_FOUND)!r}" + (f" ({hint})" if hint.startswith("did you mean") else "")
