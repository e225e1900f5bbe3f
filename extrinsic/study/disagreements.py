"""The dialogs that explain a difference between two trackers of a run, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.formats import StateFormat
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.state_sets import ABSENT, StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.transcript import TranscriptSlot, TranscriptTurn, transcript_of_dialog
from extrinsic.registry import FORMATS
from extrinsic.study.comparing import differing_dialogs
from extrinsic.study.configuration.settings_file import read_study
from extrinsic.study.finished_run import Run
from extrinsic.study.planning import Plan, make_plan
from extrinsic.study.planning.state_set_plan import STATES_DATASET
from extrinsic.study.stages.inputs import corpus_of, output_of


@dataclass(frozen=True)
class Disagreement:
    """A dialog in which one tracker has more slots right than the other, summed over turns."""

    dataset: str
    session: str
    difference: int
    turns: tuple[TranscriptTurn, ...]


def most_different_dialogs(run: Run, first: str, second: str, most: int = 3) -> list[Disagreement]:
    """Of every dataset the dialogs in which two trackers differ most; the dialogs are read again."""
    plan = make_plan(read_study(run.folder / "config.toml"))
    found = (
        _of_states(plan, first, second, most)
        if plan.settings.states
        else _of_beliefs(plan, first, second, most)
    )
    return sorted(found, key=lambda told: -abs(told.difference))[:most]


def _of_beliefs(plan: Plan, first: str, second: str, most: int) -> list[Disagreement]:
    found = []
    measures = [task for task in plan.tasks if task.kind == "measure" and task.tracker in (first, second)]
    units = {task.arguments[0].name: task.arguments[0] for task in measures}
    for unit in units.values():
        recipes = {task.tracker: task.arguments[1] for task in measures if task.arguments[0] is unit}
        corpus = corpus_of(unit.test)
        outputs = (output_of(recipes[first], unit, "test"), output_of(recipes[second], unit, "test"))
        right = (_right_slots(corpus, outputs[0]), _right_slots(corpus, outputs[1]))
        name_of = {
            dialog: part.name for part in unit.parts for dialog in part.chosen(corpus.n_dialogs).tolist()
        }
        for dialog, apart in differing_dialogs(right, corpus.offsets, most):
            turns = tuple(transcript_of_dialog(corpus, outputs, dialog))
            found.append(Disagreement(name_of.get(dialog, unit.name), corpus.sessions[dialog], apart, turns))
    return found


def _right_slots(corpus: Corpus, output: TrackerOutput) -> Ints:
    """(n_turns,) how many slots the best hypotheses have right."""
    beliefs = output.marginals(corpus)
    return np.asarray(beliefs.correct[beliefs.top].reshape(corpus.n_turns, -1).sum(axis=1), dtype=np.int64)


def _of_states(plan: Plan, first: str, second: str, most: int) -> list[Disagreement]:
    states = {}
    for task in plan.tasks:
        if task.tracker in (first, second):
            path, form, name, shared, *_ = task.arguments
            reader: StateFormat = FORMATS.get(form)
            read = reader.read(path, name)
            place = {dialog: number for number, dialog in enumerate(read.dialogs)}
            states[name] = read.take([place[dialog] for dialog in shared])
    pair = states[first], states[second]
    right = _right_states(pair[0]), _right_states(pair[1])
    return [
        Disagreement(STATES_DATASET, pair[0].dialogs[dialog], apart, tuple(_tell_states(pair, dialog)))
        for dialog, apart in differing_dialogs(right, pair[0].offsets, most)
    ]


def _right_states(states: StateSets) -> Ints:
    """(n_turns,) slots that are right, less those that are said and wrong."""
    same = (states.predicted == states.gold) & (states.gold != ABSENT)
    wrong = (states.predicted != states.gold) & (states.predicted != ABSENT)
    return np.asarray(same.sum(axis=1) - wrong.sum(axis=1), dtype=np.int64)


def _tell_states(pair: tuple[StateSets, StateSets], dialog: int) -> list[TranscriptTurn]:
    turns = []
    slots = sorted({slot for states in pair for slot in states.slots})
    begin, end = pair[0].offsets[dialog], pair[0].offsets[dialog + 1]
    for number in range(int(end - begin)):
        told = []
        for slot in slots:
            gold = _value(pair[0], dialog, number, slot, "gold")
            said = [_value(states, dialog, number, slot, "predicted") for states in pair]
            if gold or any(said):
                beliefs = tuple(((value or "none", 1.0),) for value in said)
                right = tuple(value == gold for value in said)
                told.append(TranscriptSlot("-".join(slot), (gold,) if gold else (), beliefs, right))
        turns.append(TranscriptTurn(number, "", (), tuple(told)))
    return turns


def _value(states: StateSets, dialog: int, number: int, slot: tuple[str, str], kind: str) -> str | None:
    if slot not in states.slots:
        return None
    table = states.gold if kind == "gold" else states.predicted
    identity = int(table[int(states.offsets[dialog]) + number, states.slots.index(slot)])
    return None if identity == ABSENT else states.vocabulary.text(identity)
