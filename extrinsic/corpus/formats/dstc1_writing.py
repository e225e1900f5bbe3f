"""Writing DSTC1 corpora and tracker files, so that reading them back gives the same arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from extrinsic.corpus.formats.dstc1_corpus import LIST_EXTENSION, pairs_of_value
from extrinsic.corpus.formats.dstc1_tracker import JOINT
from extrinsic.corpus.formats.logs import write_log
from extrinsic.corpus.formats.tracker_files import TrackerFileWriter, TurnWriter
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.vocabulary import NONE, Value
from extrinsic.storage import encode_json, write_atomic, writing_atomically


def write_corpus(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as a directory in the challenge's layout, its list of sessions in `config`."""
    root = Path(path)
    labels = corpus.labels
    assert isinstance(labels, LabelEvents)
    order = np.argsort(labels.turn, kind="stable")
    bounds = np.searchsorted(labels.turn[order], np.arange(corpus.n_turns + 1))

    def labels_of(turn: int) -> dict[str, Any]:
        events = order[bounds[turn] : bounds[turn + 1]]
        return {
            "slu-labels": [
                {
                    "slots": _pairs(corpus, int(labels.slot[event]), int(labels.value[event])),
                    "label": bool(labels.correct[event]),
                }
                for event in events
            ]
        }

    for dialog, directory in enumerate(corpus.directories):
        turns = range(corpus.offsets[dialog], corpus.offsets[dialog + 1])
        written = {"session-id": corpus.sessions[dialog], "turns": [labels_of(turn) for turn in turns]}
        write_atomic(root / directory / "dstc.log.json", encode_json(write_log(corpus, dialog)))
        write_atomic(root / directory / "dstc.labels.json", encode_json(written))
    lines = "".join(f"{directory}\n" for directory in corpus.directories)
    write_atomic(root / "config" / f"{corpus.dataset}.{LIST_EXTENSION}", lines.encode())


def write_tracker(output: TrackerOutput, corpus: Corpus, path: str | Path) -> None:
    """Write what the tracker gave, in its own order."""
    with writing_atomically(path) as write:
        writer = TrackerFileWriter(write)
        writer.add(output, corpus, turn_writer(output, corpus))
        writer.end()


def turn_writer(output: TrackerOutput, corpus: Corpus) -> TurnWriter:
    n_slots = len(corpus.slots)

    def write_turn(turn: int) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for column, slot in enumerate(corpus.slots):
            rows = range(*output.given.offsets[turn * n_slots + column :][:2])
            if rows:
                hypotheses = [
                    {
                        "slots": _pairs(corpus, column, int(output.given.value[row])),
                        "score": float(output.given.score[row]),
                    }
                    for row in rows
                ]
                written[slot] = {"hyps": hypotheses}
        if output.given_joint.given[turn]:
            rows = range(*output.given_joint.offsets[turn : turn + 2])
            written[JOINT] = {"hyps": [_joint_hypothesis(output, corpus, row) for row in rows]}
        return written

    return write_turn


def _joint_hypothesis(output: TrackerOutput, corpus: Corpus, row: int) -> dict[str, Any]:
    assignment = output.given_joint.assignment[row]
    pairs: dict[str, str] = {}
    for column in np.flatnonzero(assignment != NONE):
        pairs |= _pairs(corpus, int(column), int(assignment[column]))
    return {"slots": pairs, "score": float(output.given_joint.score[row])}


def _pairs(corpus: Corpus, column: int, identity: int) -> dict[str, str]:
    value: Value | None = corpus.vocabulary.value(identity)
    assert value is not None
    return pairs_of_value(corpus.slots[column], value)
