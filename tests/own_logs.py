"""Writing corpora as own logs (JSON lines), so that reading them back gives the same arrays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import DIRECTORY
from extrinsic.corpus.formats.log_lines import written_lines
from extrinsic.corpus.formats.logs import KEY, POSSIBLE, write_acts, write_decision
from extrinsic.corpus.labels import GoalLabels
from extrinsic.storage import write_atomic


def write_own_log(corpus: Corpus, path: str | Path) -> None:
    """Write `<dataset>.jsonl` into a folder; the corpus must have labels of goals, as DSTC2's have."""
    write_atomic(Path(path) / f"{corpus.dataset}.jsonl", written_lines(_lines(corpus)))


def _lines(corpus: Corpus) -> Iterator[dict[str, Any]]:
    for turn in range(corpus.n_turns):
        dialog, number = int(corpus.dialog_of_turn[turn]), int(corpus.turn_in_dialog[turn])
        last = bool(turn == corpus.offsets[dialog + 1] - 1)
        outcome = {name: of_dialogs[dialog] for name, of_dialogs in corpus.outcomes.items()}
        conditions = {name: of_dialogs[dialog] for name, of_dialogs in corpus.conditions.items()}
        conditions = {
            name: text for name, text in conditions.items() if text is not None and name != DIRECTORY
        }
        decision = write_decision(corpus, turn)
        yield {
            "dialog": corpus.sessions[dialog],
            "turn": number,
            "system": write_acts(corpus.vocabulary, corpus.system, turn),
            "nbest": _nbest(corpus, turn),
            "propensities": decision.get(KEY),
            "possible": decision.get(POSSIBLE),
            "reward": None if corpus.rewards is None else float(corpus.rewards[turn]),
            "labels": _labels(corpus, turn),
            "outcome": ({name: score for name, score in outcome.items() if score == score} or None)
            if last
            else None,
            "conditions": conditions or None if number == 0 else None,
            "restart": True if corpus.restart[turn] else None,
            "end": last,
        }


def _nbest(corpus: Corpus, turn: int) -> list[dict[str, Any]]:
    """The list of the live recogniser; without one, that of the recogniser that ran later."""
    nbest = corpus.nbest
    rows = np.arange(nbest.offsets[turn], nbest.offsets[turn + 1])
    live = rows[~nbest.batch[rows]]
    return [
        {"acts": write_acts(corpus.vocabulary, nbest.acts, int(row)), "score": float(nbest.score[row])}
        for row in (live if len(live) else rows).tolist()
    ]


def _labels(corpus: Corpus, turn: int) -> dict[str, Any]:
    labels, value = corpus.labels, corpus.vocabulary.value
    assert isinstance(labels, GoalLabels)
    written = {
        "goal": {
            corpus.slots[column]: value(int(labels.goal[turn, column]))
            for column in np.flatnonzero(labels.goal[turn] != NONE)
        },
        "requested": [corpus.requestable[column] for column in np.flatnonzero(labels.requested[turn])],
        "method": value(int(labels.method[turn])),
        "said": write_acts(corpus.vocabulary, labels.heard, turn),
    }
    return {name: content for name, content in written.items() if content or name == "goal"}
