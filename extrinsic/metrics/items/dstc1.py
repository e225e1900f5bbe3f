"""The items of a DSTC1 tracker: nine slots and the joint."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.items.item_tables import ItemTable
from extrinsic.metrics.items.ranked import find_correct
from extrinsic.metrics.items.schedules import dstc1_schedules

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
    return [
        ItemTable(
            rule="dstc1",
            label_scheme=None,
            offsets=corpus.offsets,
            components={
                **{slot: (column,) for column, slot in enumerate(corpus.slots)},
                JOINT: (n_slots,),
                ALL: tuple(range(n_slots)),
            },
            schedules=dstc1_schedules(corpus),
            fields=table,
            top_score=table["top_score"],
            correct=table["correct"].astype(bool),
        )
    ]


def _fields(offsets: Ints, score: Floats, correct: Bools) -> dict[str, Floats]:
    found = find_correct(offsets, score, correct)
    count = np.diff(offsets) - 1.0
    # sqrt of both terms, as the scorer writes it: the distance over "right" and "wrong".
    return {
        "correct": found.top_correct.astype(np.float64),
        "top_score": found.top_score,
        "l2": np.sqrt((1.0 - found.right_total) ** 2 + (1.0 - found.right_total) ** 2),
        "probability": found.first_score,
        "reciprocal_rank": found.reciprocal_rank,
        "hypothesis_count": count,
        "nonempty": (count > 0).astype(np.float64),
    }
