"""What was said and believed at the table, turn by turn, and the corpus it makes in the end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths, row_of_each
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.evidence import Evidence
from extrinsic.corpus.labels import LabelEvents
from extrinsic.corpus.likely_joint import likeliest_assignments
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.nbest import NBest
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.corpus.tracking import BeliefRows, StepBelief
from extrinsic.domain import DIRECTORY
from extrinsic.simulation.bus_ontology import Values
from extrinsic.simulation.goals import NOTHING
from extrinsic.storage import content_hash

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Step:
    """One turn of each of m dialogs.

    dialogs (m,).   chances (m, n_predicates): how likely each decision was.   goal, said (m, n_groups): what
    the callers want, and what they said of it.
    """

    dialogs: Ints
    system: Acts
    nbest: NBest
    restart: Bools
    chances: Floats
    evidence: Evidence
    belief: StepBelief
    goal: Ints
    said: Ints


class Record:
    """Gathers steps; in the end they become a corpus, dialog by dialog, with its labels."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self._steps: list[Step] = []
        self._beliefs = BeliefRows()
        self._n_turns = 0

    def add(self, step: Step) -> None:
        self._beliefs.add(self._n_turns + np.arange(len(step.dialogs)), step.belief)
        self._n_turns += len(step.dialogs)
        self._steps.append(step)

    def corpus(self, dataset: str, signature: str) -> Corpus:
        """The corpus of these dialogs; `signature` of who made them becomes part of its own."""
        steps, values = self._steps, self.values
        turns = self._turns_in_order()
        dialog = np.concatenate([step.dialogs for step in steps])[turns]
        lengths = np.bincount(dialog)
        sessions = tuple(f"{dataset}-{number:05d}" for number in range(len(lengths)))
        system = Acts.joined([step.system for step in steps]).take(turns)
        nbest = NBest.joined([step.nbest for step in steps]).take(turns)
        said = (dialog, system.name, system.value, nbest.offsets, nbest.score, nbest.acts.value)
        return Corpus(
            dataset=dataset,
            format="dstc1",
            domain=values.domain,
            slots=values.domain.slot_names,
            requestable=(),
            vocabulary=values.vocabulary,
            sessions=sessions,
            directories=tuple(f"{dataset}/{session}" for session in sessions),
            offsets=offsets_from_lengths(lengths),
            restart=np.concatenate([step.restart for step in steps])[turns],
            system=system,
            nbest=nbest,
            labels=self._labels(turns),
            conditions={DIRECTORY: (dataset,) * len(sessions)},
            propensities=np.concatenate([step.chances for step in steps])[turns],
            signature=content_hash(signature, *(column.tobytes() for column in said)),
        )

    def output(self, corpus: Corpus, name: str) -> TrackerOutput:
        """What the tracker at the table believed."""
        turns = self._turns_in_order()
        number = np.empty_like(turns)
        number[turns] = np.arange(len(turns))
        given = self._beliefs.hypotheses(len(turns), len(corpus.slots), number)
        joint = likeliest_assignments(given, len(corpus.slots))
        signature = content_hash("live", name, corpus.signature, given.score.tobytes())
        return build_output(corpus, name, given, joint, signature=signature)[0]

    def ranks_of_said(self) -> Ints:
        """(k,) for every value that a caller said: its place in the list, NOWHERE if it is not in it."""
        return np.concatenate([_ranks(self.values, step) for step in self._steps])

    def list_sizes(self) -> Ints:
        """(k,) how many hypotheses each list has that should hold something."""
        return np.concatenate(
            [np.diff(step.nbest.offsets)[(step.said != NOTHING).any(axis=1)] for step in self._steps]
        )

    def _turns_in_order(self) -> Ints:
        """The turns as they were added, sorted by dialog; within one they are in order already."""
        return np.argsort(np.concatenate([step.dialogs for step in self._steps]), kind="stable")

    def _labels(self, turns: Ints) -> LabelEvents:
        """Every value that a hypothesis stands by, labelled by whether it is what the caller wanted then."""
        begin, parts = 0, []
        for step in self._steps:
            item = row_of_each(step.evidence.offsets)
            row, slot = item // step.evidence.n_slots, item % step.evidence.n_slots
            number = self.values.number[slot, step.evidence.value]
            right = step.goal[row, self.values.group[slot]] == number
            observed = step.evidence.rank >= 0
            columns = (begin + row, slot, step.evidence.value, right)
            parts.append([column[observed] for column in columns])
            begin += len(step.dialogs)
        turn, slot, value, correct = (np.concatenate(column) for column in zip(*parts, strict=True))
        return LabelEvents(turn, slot, value, correct).take(turns)


def _ranks(values: Values, step: Step) -> Ints:
    row, group = np.nonzero(step.said != NOTHING)
    number = step.said[row, group]
    evidence, n_words = step.evidence, values.number.shape[1]
    keys = row_of_each(evidence.offsets) * n_words + evidence.value
    order = np.argsort(keys)
    wanted = (row * evidence.n_slots + values.slot[number]) * n_words + values.identity[number]
    at = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.full(len(wanted), NOWHERE)
    found = keys[order][at] == wanted
    return np.where(found, evidence.rank[order][at], NOWHERE)
