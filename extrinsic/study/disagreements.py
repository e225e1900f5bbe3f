"""The dialogs that explain a difference between two trackers of a run, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.state_sets import ABSENT, StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.transcript import TranscriptSlot, TranscriptTurn, transcript_of_dialog
from extrinsic.study.dialog_inputs import corpus_of
from extrinsic.study.plan import Plan
from extrinsic.study.run import Run
from extrinsic.study.state_inputs import STATES_DATASET
from extrinsic.study.tracker_inputs import output_of, resolve_files


@dataclass(frozen=True)
class Disagreement:
    """A dialog in which one tracker has more slots right than the other, summed over turns."""

    dataset: str
    session: str
    difference: int
    turns: tuple[TranscriptTurn, ...]


def most_different_dialogs(run: Run, first: str, second: str, most: int = 3) -> list[Disagreement]:
    """Of every dataset the dialogs in which two trackers differ most; the dialogs are read again."""
    compare = _of_states if run.plan.states else _of_beliefs
    dialogs = compare(run.plan, first, second, most)
    return sorted(dialogs, key=lambda dialog: -abs(dialog.difference))[:most]


def _of_beliefs(plan: Plan, first: str, second: str, most: int) -> list[Disagreement]:
    dialogs = []
    trackers = {tracker.name: tracker for tracker in plan.trackers}
    for unit in plan.units:
        corpus = corpus_of(unit.test)
        a, b = (output_of(resolve_files(trackers[name], unit), unit, "test") for name in (first, second))
        right = (_right_slots(corpus, a), _right_slots(corpus, b))
        dataset_of = {
            dialog: part.name for part in unit.parts for dialog in part.chosen(corpus.n_dialogs).tolist()
        }
        for dialog, apart in differing_dialogs(right, corpus.offsets, most):
            turns = tuple(transcript_of_dialog(corpus, (a, b), dialog))
            dataset = dataset_of.get(dialog, unit.name)
            dialogs.append(Disagreement(dataset, corpus.sessions[dialog], apart, turns))
    return dialogs


def _right_slots(corpus: Corpus, output: TrackerOutput) -> Ints:
    """(n_turns,) how many slots the best hypotheses have right."""
    beliefs = output.marginals(corpus)
    return np.asarray(beliefs.correct[beliefs.top].reshape(corpus.n_turns, -1).sum(axis=1), dtype=np.int64)


def _of_states(plan: Plan, first: str, second: str, most: int) -> list[Disagreement]:
    files = {file.name: file for file in plan.states}
    pair = files[first].read(plan.dialogs), files[second].read(plan.dialogs)
    right = _right_states(pair[0]), _right_states(pair[1])
    return [
        Disagreement(STATES_DATASET, pair[0].dialogs[dialog], apart, tuple(_transcript(pair, dialog)))
        for dialog, apart in differing_dialogs(right, pair[0].offsets, most)
    ]


def _right_states(states: StateSets) -> Ints:
    """(n_turns,) slots that are right, less those that are predicted and wrong."""
    same = (states.predicted == states.gold) & (states.gold != ABSENT)
    wrong = (states.predicted != states.gold) & (states.predicted != ABSENT)
    return np.asarray(same.sum(axis=1) - wrong.sum(axis=1), dtype=np.int64)


def _transcript(pair: tuple[StateSets, StateSets], dialog: int) -> list[TranscriptTurn]:
    turns = []
    slots = sorted({slot for states in pair for slot in states.slots})
    begin, end = pair[0].offsets[dialog], pair[0].offsets[dialog + 1]
    for number in range(int(end - begin)):
        rows = []
        for slot in slots:
            gold = _value(pair[0], dialog, number, slot, "gold")
            predicted = [_value(states, dialog, number, slot, "predicted") for states in pair]
            if gold or any(predicted):
                beliefs = tuple(((value or "none", 1.0),) for value in predicted)
                right = tuple(value == gold for value in predicted)
                rows.append(TranscriptSlot("-".join(slot), (gold,) if gold else (), beliefs, right))
        turns.append(TranscriptTurn(number, "", (), tuple(rows)))
    return turns


def _value(states: StateSets, dialog: int, number: int, slot: tuple[str, str], kind: str) -> str | None:
    if slot not in states.slots:
        return None
    table = states.gold if kind == "gold" else states.predicted
    identity = int(table[int(states.offsets[dialog]) + number, states.slots.index(slot)])
    return None if identity == ABSENT else states.vocabulary.text(identity)


def differing_dialogs(right: tuple[Ints, Ints], offsets: Ints, most: int) -> list[tuple[int, int]]:
    """Dialogs in which one tracker is right more often: (dialog, by how many), the farthest apart first.

    right (n_turns,): how many slots each of the two has right at every turn.
    """
    apart = np.add.reduceat(right[0] - right[1], offsets[:-1])
    order = np.argsort(-np.abs(apart), kind="stable")[:most]
    return [(int(dialog), int(apart[dialog])) for dialog in order if apart[dialog]]
