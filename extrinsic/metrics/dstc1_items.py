"""The items of a DSTC1 tracker, nine slots and the joint; and the right states."""

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.labels import SpanTruth
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.belief_items import (
    HypothesisColumns,
    ItemHypotheses,
    ItemTable,
    LazyFields,
    brier_scores,
    find_correct,
)
from extrinsic.metrics.schedules import dstc1_schedules

JOINT = "joint"
ALL = "all"


def build_tables(corpus: Corpus, tracker: TrackerOutput) -> list[ItemTable]:
    """One table: DSTC1 has no label schemes."""
    n_turns, n_slots = corpus.n_turns, len(corpus.slots)
    slots = _fields(tracker.beliefs.offsets, tracker.beliefs.score, tracker.beliefs.correct)
    joint = _fields(tracker.joint.offsets, tracker.joint.score, tracker.joint.correct)
    table = {
        name: np.concatenate([slots[name].reshape(n_turns, n_slots), joint[name][:, None]], axis=1)
        for name in slots
    }
    hypotheses = (
        HypothesisColumns(tuple(range(n_slots)), lambda: _slot_hypotheses(tracker)),
        HypothesisColumns((n_slots,), lambda: _joint_hypotheses(tracker)),
    )

    def brier() -> Floats:
        return np.concatenate(
            [brier_scores(part.hypotheses).reshape(n_turns, -1) for part in hypotheses], axis=1
        )

    fields = LazyFields({**table, "brier": brier, "l2_lee": lambda: np.sqrt(fields["brier"])})
    return [
        ItemTable(
            roc_points=corpus.conventions.roc_points,
            label_scheme=None,
            offsets=corpus.offsets,
            components={
                **{slot: (column,) for column, slot in enumerate(corpus.slots)},
                JOINT: (n_slots,),
                ALL: tuple(range(n_slots)),
            },
            schedules=dstc1_schedules(corpus),
            fields=fields,
            top_score=table["top_score"],
            correct=table["correct"].astype(bool),
            hypotheses=hypotheses,
        )
    ]


def _fields(offsets: Ints, score: Floats, correct: Bools) -> dict[str, Floats]:
    right = find_correct(offsets, score, correct)
    count = np.diff(offsets) - 1.0
    # sqrt of both terms, as in the scorer: the distance over "right" and "wrong".
    return {
        "correct": right.top_correct.astype(np.float64),
        "top_score": right.top_score,
        "l2": np.sqrt((1.0 - right.right_total) ** 2 + (1.0 - right.right_total) ** 2),
        "probability": right.first_score,
        "reciprocal_rank": right.reciprocal_rank,
        "hypothesis_count": count,
        "nonempty": (count > 0).astype(np.float64),
    }


def _slot_hypotheses(tracker: TrackerOutput) -> ItemHypotheses:
    beliefs = tracker.beliefs
    return ItemHypotheses(beliefs.offsets, beliefs.score, beliefs.correct, beliefs.value == NONE)


def _joint_hypotheses(tracker: TrackerOutput) -> ItemHypotheses:
    joint = tracker.joint
    return ItemHypotheses(joint.offsets, joint.score, joint.correct, joint.none)


def gold_states(corpus: Corpus, predicted: Ids, scheme: str | None) -> Ids:
    """(n_turns, n_slots) what the states should be.

    Where several values are right at once, the predicted one is gold if it is among them, else the one that
    became right last.
    """
    truth = corpus.truth
    assert isinstance(truth, SpanTruth)
    latest = _latest_values(truth, predicted.shape)
    turn, slot = np.indices(predicted.shape)
    right = truth.is_correct(turn.ravel(), slot.ravel(), predicted.ravel()).reshape(predicted.shape)
    return np.where(right, predicted, latest)


def _latest_values(truth: SpanTruth, shape: tuple[int, ...]) -> Ids:
    """(n_turns, n_slots) the right value that became right last, NONE where there is none."""
    latest = np.full(shape, NONE, dtype=np.int32)
    order = np.lexsort((truth.label, truth.start))
    lengths = (truth.end - truth.start)[order]
    begin = np.cumsum(lengths) - lengths
    turn = np.repeat(truth.start[order] - begin, lengths) + np.arange(lengths.sum())
    # Assignment by index keeps the last, and spans come in the order in which they were labelled.
    latest[turn, np.repeat(truth.slot[order], lengths)] = np.repeat(truth.value[order], lengths)
    return latest
