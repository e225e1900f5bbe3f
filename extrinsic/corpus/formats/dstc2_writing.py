"""Writing DSTC2 corpora and tracker files, so that reading them back gives the same arrays."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from extrinsic.corpus.formats.dstc2_corpus import LIST_EXTENSION
from extrinsic.corpus.formats.logs import write_acts, write_log
from extrinsic.corpus.formats.tracker_files import TrackerFileWriter, TurnWriter
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.vocabulary import NONE
from extrinsic.storage import encode_json, write_atomic, writing_atomically


def write_corpus(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as a directory in the challenge's layout."""
    root = Path(path)
    for dialog, directory in enumerate(corpus.directories):
        folder = root / "data" / directory
        write_atomic(folder / "log.json", encode_json(write_log(corpus, dialog)))
        write_atomic(folder / "label.json", encode_json(_labels(corpus, dialog)))
    config = root / "scripts" / "config"
    prefix = corpus.dataset.partition("_")[0]
    write_atomic(config / f"ontology_{prefix}.json", encode_json(dict(corpus.ontology)))
    lines = "".join(f"{directory}\n" for directory in corpus.directories)
    write_atomic(config / f"{corpus.dataset}.{LIST_EXTENSION}", lines.encode())


def _labels(corpus: Corpus, dialog: int) -> dict[str, Any]:
    labels = corpus.labels
    assert isinstance(labels, GoalLabels)
    turns = []
    for number, turn in enumerate(range(corpus.offsets[dialog], corpus.offsets[dialog + 1])):
        turns.append(
            {
                "turn-index": number,
                "goal-labels": {
                    corpus.slots[column]: corpus.vocabulary.value(int(labels.goal[turn, column]))
                    for column in np.flatnonzero(labels.goal[turn] != NONE)
                },
                "method-label": corpus.vocabulary.value(int(labels.method[turn])),
                "requested-slots": [corpus.requestable[i] for i in np.flatnonzero(labels.requested[turn])],
                "semantics": {"json": write_acts(corpus.vocabulary, labels.heard, turn)},
            }
        )
    success = corpus.outcomes.get("success", (np.nan,) * corpus.n_dialogs)[dialog]
    feedback = {"success": None if np.isnan(success) else bool(success)}
    return {
        "session-id": corpus.sessions[dialog],
        "turns": turns,
        "task-information": {"feedback": feedback},
    }


def write_tracker(output: TrackerOutput, corpus: Corpus, path: str | Path) -> None:
    """Write what the tracker gave, in its own order."""
    with writing_atomically(path) as write:
        writer = TrackerFileWriter(write)
        writer.add(output, corpus, turn_writer(output, corpus))
        writer.end()


def turn_writer(output: TrackerOutput, corpus: Corpus) -> TurnWriter:
    n_slots = len(corpus.slots)
    value = corpus.vocabulary.value
    # Plain lists: taking elements out of arrays one by one would cost more than everything else.
    goals, methods = _distributions(output.given, corpus), _distributions(output.given_method, corpus)
    has_joint, joint_offsets = output.given_joint.given.tolist(), output.given_joint.offsets.tolist()
    requests: list[dict[str, float]] = [{} for _ in range(corpus.n_turns)]
    for turn, column in zip(*(index.tolist() for index in np.nonzero(output.requested)), strict=True):
        requests[turn][corpus.requestable[column]] = float(output.requested[turn, column])

    def write_joint(row: int) -> dict[str, Any]:
        assignment = output.given_joint.assignment[row]
        columns = np.flatnonzero(assignment != NONE)
        slots = {corpus.slots[column]: value(int(assignment[column])) for column in columns}
        return {"slots": slots, "score": float(output.given_joint.score[row])}

    def write_turn(turn: int) -> dict[str, Any]:
        of_slots = zip(corpus.slots, goals[turn * n_slots : (turn + 1) * n_slots], strict=True)
        written: dict[str, Any] = {
            "goal-labels": {slot: scores for slot, scores in of_slots if scores},
            "method-label": methods[turn],
            "requested-slots": requests[turn],
        }
        if has_joint[turn]:
            rows = range(*joint_offsets[turn : turn + 2])
            written["goal-labels-joint"] = [write_joint(row) for row in rows]
        return written

    return write_turn


def _distributions(hypotheses: Hypotheses, corpus: Corpus) -> list[dict[str, float]]:
    """The values and scores of every item."""
    texts = [str(corpus.vocabulary.value(identity)) for identity in hypotheses.value.tolist()]
    pairs = list(zip(texts, hypotheses.score.tolist(), strict=True))
    offsets = hypotheses.offsets.tolist()
    return [dict(pairs[begin:end]) for begin, end in pairwise(offsets)]
