"""Writing DSTC2 corpora and tracker files, so that reading them back gives the same arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from extrinsic.corpus.formats.dstc2_corpus import LIST_EXTENSION
from extrinsic.corpus.formats.logs import write_acts, write_log
from extrinsic.corpus.formats.tracker_files import tracker_file
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.vocabulary import NONE
from extrinsic.storage import encode_json, write_atomic


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
    n_slots = len(corpus.slots)
    value = corpus.vocabulary.value

    def write_turn(turn: int) -> dict[str, Any]:
        written: dict[str, Any] = {"goal-labels": {}, "method-label": {}, "requested-slots": {}}
        for column, slot in enumerate(corpus.slots):
            row = slice(*output.given.offsets[turn * n_slots + column :][:2])
            if row.start < row.stop:
                written["goal-labels"][slot] = _distribution(output.given, row, corpus)
        if output.given_joint.given[turn]:
            rows = range(*output.given_joint.offsets[turn : turn + 2])
            written["goal-labels-joint"] = [
                {
                    "slots": {
                        corpus.slots[column]: value(int(output.given_joint.assignment[row, column]))
                        for column in np.flatnonzero(output.given_joint.assignment[row] != NONE)
                    },
                    "score": float(output.given_joint.score[row]),
                }
                for row in rows
            ]
        row = slice(*output.given_method.offsets[turn : turn + 2])
        written["method-label"] = _distribution(output.given_method, row, corpus)
        written["requested-slots"] = {
            corpus.requestable[column]: float(output.requested[turn, column])
            for column in np.flatnonzero(output.requested[turn])
        }
        return written

    write_atomic(path, encode_json(tracker_file(output, corpus, write_turn)))


def _distribution(hypotheses: Any, row: slice, corpus: Corpus) -> dict[str, float]:
    pairs = zip(hypotheses.value[row], hypotheses.score[row], strict=True)
    return {str(corpus.vocabulary.value(int(identity))): float(score) for identity, score in pairs}
