"""Readable transcripts of dialogs: system acts, recogniser hypotheses, right values and beliefs."""

from dataclasses import dataclass

import numpy as np

from extrinsic.corpus.acts import NONE, Acts, Vocabulary
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.labels import GoalLabels
from extrinsic.corpus.tracker_output import TrackerOutput

Scored = tuple[str, float]


@dataclass(frozen=True)
class TranscriptSlot:
    """The right values of a slot at a turn, and the trackers' beliefs about it, best first."""

    slot: str
    right: tuple[str, ...]
    beliefs: tuple[tuple[Scored, ...], ...]
    correct: tuple[bool, ...]


@dataclass(frozen=True)
class TranscriptTurn:
    """A turn: the system's acts, the N-best list with its scores, and the relevant slots."""

    number: int
    system: str
    heard: tuple[Scored, ...]
    slots: tuple[TranscriptSlot, ...]


def transcript_of_dialog(
    corpus: Corpus, outputs: tuple[TrackerOutput, ...], dialog: int, most: int = 3
) -> list[TranscriptTurn]:
    """The turns of a dialog, with the best `most` entries of every list, without slots that have no value."""
    beliefs = [output.marginals(corpus) for output in outputs]
    n_slots = len(corpus.slots)
    turns = []
    for turn in range(int(corpus.offsets[dialog]), int(corpus.offsets[dialog + 1])):
        slots = []
        for column, slot in enumerate(corpus.slots):
            believed, correct = [], []
            for belief in beliefs:
                item = turn * n_slots + column
                rows = range(int(belief.offsets[item]), int(belief.offsets[item + 1]))
                believed.append(
                    tuple(
                        (_text(corpus.vocabulary, int(belief.value[i])), float(belief.score[i]))
                        for i in rows[:most]
                    )
                )
                correct.append(bool(belief.correct[rows[0]]))
            right = right_values(corpus, turn, column)
            if right or any(entries[0][0] != "none" for entries in believed):
                slots.append(TranscriptSlot(slot, right, tuple(believed), tuple(correct)))
        number = turn - int(corpus.offsets[dialog])
        heard = heard_at(corpus, turn)[:most]
        turns.append(
            TranscriptTurn(number, acts_text(corpus.vocabulary, corpus.system, turn), heard, tuple(slots))
        )
    return turns


def _text(vocabulary: Vocabulary, value: int) -> str:
    return "none" if value == NONE else vocabulary.text(value)


def acts_text(vocabulary: Vocabulary, acts: Acts, owner: int) -> str:
    """`request(food) expl-conf(area=north)`"""
    texts = []
    for act in range(int(acts.offsets[owner]), int(acts.offsets[owner + 1])):
        pairs = []
        for pair in range(int(acts.pair_offsets[act]), int(acts.pair_offsets[act + 1])):
            slot, value = (_text(vocabulary, int(column[pair])) for column in (acts.slot, acts.value))
            pairs.append(
                value if slot in ("slot", "none") else slot if value == "none" else f"{slot}={value}"
            )
        texts.append(f"{vocabulary.text(int(acts.name[act]))}({', '.join(pairs)})")
    return " ".join(texts) or "-"


def heard_at(corpus: Corpus, turn: int) -> tuple[Scored, ...]:
    """The N-best list of a turn, live recogniser first, best first."""
    nbest = corpus.nbest
    rows = range(int(nbest.offsets[turn]), int(nbest.offsets[turn + 1]))
    live = [row for row in rows if not nbest.batch[row]] or list(rows)
    hypotheses = [(acts_text(corpus.vocabulary, nbest.acts, row), float(nbest.score[row])) for row in live]
    return tuple(sorted(hypotheses, key=lambda entry: -entry[1]))


def right_values(corpus: Corpus, turn: int, column: int) -> tuple[str, ...]:
    """The values of a slot that the labels call right at a turn."""
    labels = corpus.labels
    if isinstance(labels, GoalLabels):
        value = int(labels.goal[turn, column])
        return () if value == NONE else (corpus.vocabulary.text(value),)
    labelled = np.unique(labels.value[labels.slot == column])
    places = np.full(len(labelled), turn), np.full(len(labelled), column)
    right = labelled[corpus.truth.is_correct(*places, labelled)] if len(labelled) else labelled
    return tuple(corpus.vocabulary.text(int(value)) for value in right)
