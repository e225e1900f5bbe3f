"""What arrays stand for, as plain values: ids mean nothing outside the vocabulary that gave them out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from extrinsic.corpus.acts import Acts, Vocabulary
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.hypotheses import Hypotheses, JointHypotheses
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.state_sets import StateSets
from extrinsic.corpus.tracker_output import TrackerOutput


def values(vocabulary: Vocabulary, ids: Any) -> list[Any]:
    return [vocabulary.value(int(identity)) for identity in np.ravel(ids)]


def rows(offsets: Any, *columns: Sequence[Any]) -> list[list[Any]]:
    """The rows of a ragged array; with several columns a row is a list of tuples."""
    items = [np.asarray(column).tolist() if isinstance(column, np.ndarray) else column for column in columns]
    flat = items[0] if len(items) == 1 else list(zip(*items, strict=True))
    return [list(flat[begin:end]) for begin, end in pairwise(offsets)]


def acts_content(acts: Acts, vocabulary: Vocabulary) -> list[Any]:
    pairs = rows(acts.pair_offsets, values(vocabulary, acts.slot), values(vocabulary, acts.value))
    return rows(acts.offsets, values(vocabulary, acts.name), pairs)


def corpus_content(corpus: Corpus) -> dict[str, Any]:
    """Everything a corpus says, in plain values."""
    vocabulary, labels = corpus.vocabulary, corpus.labels
    if isinstance(labels, LabelEvents):
        written: Any = [
            labels.turn.tolist(),
            labels.slot.tolist(),
            values(vocabulary, labels.value),
            labels.correct.tolist(),
        ]
    else:
        written = [
            values(vocabulary, labels.goal),
            labels.requested.tolist(),
            values(vocabulary, labels.method),
            acts_content(labels.heard, vocabulary),
        ]
    return {
        "dataset": corpus.dataset,
        "slots": corpus.slots,
        "requestable": corpus.requestable,
        "sessions": corpus.sessions,
        "directories": corpus.directories,
        "offsets": corpus.offsets.tolist(),
        "restart": corpus.restart.tolist(),
        "system": acts_content(corpus.system, vocabulary),
        "nbest": rows(
            corpus.nbest.offsets,
            corpus.nbest.score,
            corpus.nbest.batch,
            acts_content(corpus.nbest.acts, vocabulary),
        ),
        "labels": written,
        "conditions": dict(corpus.conditions),
        "outcomes": {name: repr(of) for name, of in corpus.outcomes.items()},  # NaN equals NaN as text
        "ontology": dict(corpus.ontology),
        "predicate": corpus.predicate.tolist(),
        "segment_end": corpus.segment_end.tolist(),
    }


def hypotheses_content(given: Hypotheses | None, vocabulary: Vocabulary) -> Any:
    return None if given is None else rows(given.offsets, values(vocabulary, given.value), given.score)


def assignments(vocabulary: Vocabulary, table: Any) -> list[tuple[Any, ...]]:
    return [tuple(values(vocabulary, row)) for row in table]


def joint_content(given: JointHypotheses, vocabulary: Vocabulary) -> Any:
    found = rows(given.offsets, assignments(vocabulary, given.assignment), given.score)
    return list(zip(given.given.tolist(), found, strict=True))


def beliefs_content(beliefs: Any, vocabulary: Vocabulary) -> Any:
    if beliefs is None:
        return None
    return rows(beliefs.offsets, values(vocabulary, beliefs.value), beliefs.score, beliefs.correct)


def output_content(output: TrackerOutput, corpus: Corpus) -> dict[str, Any]:
    """Everything a tracker output says, in plain values; problems and signature left aside."""
    vocabulary, joint = corpus.vocabulary, output.joint
    return {
        "slots": output.slots,
        "offsets": output.offsets.tolist(),
        "given": hypotheses_content(output.given, vocabulary),
        "given_joint": joint_content(output.given_joint, vocabulary),
        "given_method": hypotheses_content(output.given_method, vocabulary),
        "beliefs": beliefs_content(output.beliefs, vocabulary),
        "joint": rows(
            joint.offsets, assignments(vocabulary, joint.assignment), joint.none, joint.score, joint.correct
        ),
        "method": beliefs_content(output.method, vocabulary),
        "requested": None if output.requested is None else output.requested.tolist(),
        "wall_time": output.wall_time,
    }


def states_content(states: StateSets) -> dict[str, Any]:
    """{dialog: [(gold, predicted)]}, each a dictionary over (domain, slot); an explicit "none" is a value."""

    def state(row: Any) -> dict[tuple[str, str], Any]:
        return {states.slots[column]: states.value(int(row[column])) for column in np.flatnonzero(row)}

    turns = [(state(g), state(p)) for g, p in zip(states.gold, states.predicted, strict=True)]
    return dict(zip(states.dialogs, rows(states.offsets, turns), strict=True))
