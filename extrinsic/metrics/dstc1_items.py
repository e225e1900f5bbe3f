"""The items of a DSTC1 tracker, nine slots and the joint; and the right states."""

import numpy as np

from extrinsic.arrays import Floats, Ids
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.labels import SpanTruth
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.belief_items import (
    HypothesisColumns,
    ItemHypotheses,
    ItemTable,
    brier_scores,
    find_correct,
)
from extrinsic.metrics.schedules import dstc1_schedules

JOINT = "joint"
ALL = "all"


def build_tables(corpus: Corpus, tracker: TrackerOutput) -> list[ItemTable]:
    """One table: DSTC1 has no label schemes."""
    n_turns, n_slots = corpus.n_turns, len(corpus.slots)
    beliefs, joint = tracker.beliefs, tracker.joint
    listed = (
        ItemHypotheses(beliefs.offsets, beliefs.score, beliefs.correct, beliefs.value == NONE),
        ItemHypotheses(joint.offsets, joint.score, joint.correct, joint.none),
    )
    slots, whole = map(_fields, listed)
    fields = {
        name: np.concatenate([slots[name].reshape(n_turns, n_slots), whole[name][:, None]], axis=1)
        for name in slots
    }
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
            top_score=fields["top_score"],
            correct=fields["correct"].astype(bool),
            hypotheses=(
                HypothesisColumns(tuple(range(n_slots)), lambda: listed[0]),
                HypothesisColumns((n_slots,), lambda: listed[1]),
            ),
        )
    ]


def _fields(hypotheses: ItemHypotheses) -> dict[str, Floats]:
    right = find_correct(hypotheses.offsets, hypotheses.score, hypotheses.correct)
    count = np.diff(hypotheses.offsets) - 1.0
    brier = brier_scores(hypotheses)
    return {
        "correct": right.top_correct.astype(np.float64),
        "top_score": right.top_score,
        # sqrt of both terms, as in the scorer: the distance over "right" and "wrong".
        "l2": np.sqrt((1.0 - right.right_total) ** 2 + (1.0 - right.right_total) ** 2),
        "l2_lee": np.sqrt(brier),
        "brier": brier,
        "probability": right.first_score,
        "reciprocal_rank": right.reciprocal_rank,
        "hypothesis_count": count,
        "nonempty": (count > 0).astype(np.float64),
    }


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
