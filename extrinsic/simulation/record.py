"""Recording live play turn by turn, and building a corpus and a tracker output from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints, offsets_from_lengths, row_of_each
from extrinsic.corpus.acts import NONE, Acts, NBest
from extrinsic.corpus.conventions import DSTC1, DSTC2
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.domain import CALLER, DIRECTORY, ENDED_BY, SYSTEM
from extrinsic.corpus.evidence import Evidence
from extrinsic.corpus.labels import GoalLabels, LabelEvents
from extrinsic.corpus.requests import (
    METHODS,
    NO_METHOD,
    RequestBelief,
    Rule,
    method_hypotheses,
    methods_of,
    requests_of,
)
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.simulation.world import GOODBYE, Conditions, Exchange, LockstepWorld
from extrinsic.storage import content_hash
from extrinsic.trackers.tracking import BeliefRows, StepBelief

CONVENTIONS = {form.name: form for form in (DSTC1, DSTC2)}
NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Step:
    """One turn of each of m dialogs.

    dialogs (m,).   chances (m, n_predicates): the probability of each decision.   possible: which there were.
    """

    dialogs: Ints
    exchange: Exchange
    chances: Floats
    possible: Bools
    evidence: Evidence
    belief: StepBelief
    requests: RequestBelief


class Record:
    """Gathers steps and builds a corpus from them, dialog by dialog, with labels.

    They are written and labelled as the domain's `log_format` is.
    """

    def __init__(self, world: LockstepWorld, conditions: Conditions) -> None:
        self.world, self.conditions = world, conditions
        self.conventions = CONVENTIONS[world.domain.log_format]
        self._steps: list[Step] = []
        self._beliefs = BeliefRows()
        self._n_turns = 0

    def add(self, step: Step) -> None:
        self._beliefs.add(self._n_turns + np.arange(len(step.dialogs)), step.belief)
        self._n_turns += len(step.dialogs)
        self._steps.append(step)

    def corpus(self, dataset: str, signature: str, ending: Ints, outcomes: Mapping[str, Floats]) -> Corpus:
        """The corpus of these dialogs; its own signature includes `signature`.

        ending (n_dialogs,): how each ended; the corpus says by whom where the domain's logs do.
        """
        steps, world = self._steps, self.world
        turns = self._turns_in_order()
        dialog = np.concatenate([step.dialogs for step in steps])[turns]
        lengths = np.bincount(dialog)
        sessions = tuple(f"{dataset}-{number:05d}" for number in range(len(lengths)))
        system = Acts.joined([step.exchange.system for step in steps]).take(turns)
        nbest = NBest.joined([step.exchange.nbest for step in steps]).take(turns)
        ended_by: Conditions = {}
        if world.domain.ended_by is not None:
            ended_by = {ENDED_BY: tuple(SYSTEM if how == GOODBYE else CALLER for how in ending.tolist())}
        content = (dialog, system.name, system.value, nbest.offsets, nbest.score, nbest.acts.value)
        return Corpus(
            dataset=dataset,
            format=self.conventions.name,
            conventions=self.conventions,
            domain=world.domain,
            slots=world.slots,
            requestable=world.requestable,
            vocabulary=world.vocabulary,
            sessions=sessions,
            directories=tuple(f"{dataset}/{session}" for session in sessions),
            offsets=offsets_from_lengths(lengths),
            restart=np.concatenate([step.exchange.restart for step in steps])[turns],
            system=system,
            nbest=nbest,
            labels=self._goal_labels(turns) if world.requestable else self._labels(turns),
            conditions={DIRECTORY: (dataset,) * len(sessions), **ended_by, **self.conditions},
            outcomes={name: tuple(outcome.tolist()) for name, outcome in outcomes.items()},
            propensities=np.concatenate([step.chances for step in steps])[turns],
            possible=np.concatenate([step.possible for step in steps])[turns],
            ontology=self._ontology() if world.requestable else {},
            signature=content_hash(signature, *(column.tobytes() for column in content)),
        )

    def output(self, corpus: Corpus, name: str, rule: Rule | None) -> TrackerOutput:
        """The beliefs of the tracker in play, which follows a rule for joint lists; None: without any."""
        turns = self._turns_in_order()
        number = np.empty_like(turns)
        number[turns] = np.arange(len(turns))
        hypotheses = self._beliefs.hypotheses(len(turns), len(corpus.slots), number)
        joint = None if rule is None else self.conventions.make_joint(hypotheses, len(corpus.slots), rule)
        signature = content_hash("live", name, corpus.signature, hypotheses.score.tobytes())
        method = requested = None
        if corpus.requestable:
            requests = [step.requests for step in self._steps]
            requested = np.concatenate([belief.requested for belief in requests])[turns]
            believed = np.concatenate([belief.method for belief in requests])[turns]
            method = method_hypotheses(corpus, believed)
        return build_output(corpus, name, hypotheses, joint, method, requested, signature=signature)[0]

    def ranks_of_said(self) -> Ints:
        """(k,) for every value that a caller said: its rank in the N-best list, NOWHERE if not listed."""
        return np.concatenate([_ranks(step, len(self.world.vocabulary)) for step in self._steps])

    def list_sizes(self) -> Ints:
        """(k,) the size of each N-best list of a turn in which the caller said a value."""
        exchanges = [step.exchange for step in self._steps]
        return np.concatenate(
            [np.diff(part.nbest.offsets)[(part.said != NONE).any(axis=1)] for part in exchanges]
        )

    def _turns_in_order(self) -> Ints:
        """The turns as they were added, sorted by dialog; within one they are in order already."""
        return np.argsort(np.concatenate([step.dialogs for step in self._steps]), kind="stable")

    def _labels(self, turns: Ints) -> LabelEvents:
        """Every value in a hypothesis, labelled by whether the caller wanted it at that turn."""
        begin, parts = 0, []
        for step in self._steps:
            item = row_of_each(step.evidence.offsets)
            row, slot = item // step.evidence.n_slots, item % step.evidence.n_slots
            right = step.exchange.goal[row, slot] == step.evidence.value
            observed = step.evidence.rank >= 0
            columns = (begin + row, slot, step.evidence.value, right)
            parts.append([column[observed] for column in columns])
            begin += len(step.dialogs)
        turn, slot, value, correct = (np.concatenate(column) for column in zip(*parts, strict=True))
        return LabelEvents(turn, slot, value, correct).take(turns)

    def _goal_labels(self, turns: Ints) -> GoalLabels:
        """What the caller wants, asks for and how, at every turn, by what was truly said."""
        world = self.world
        parts = [step.exchange.said_acts for step in self._steps]
        said = Acts.joined([acts for acts in parts if acts is not None]).take(turns)
        indicated = methods_of(world.domain, world.vocabulary, said)
        dialog = np.concatenate([step.dialogs for step in self._steps])[turns]
        begins = np.diff(dialog, prepend=-1) > 0
        # The method stays what it was last said to be.
        latest = np.maximum.accumulate(np.where(begins | (indicated != NO_METHOD), np.arange(len(turns)), 0))
        return GoalLabels(
            goal=np.concatenate([step.exchange.goal for step in self._steps])[turns],
            requested=requests_of(world.domain, world.requestable, world.vocabulary, said),
            method=world.vocabulary.ids(METHODS)[indicated[latest]],
            heard=said,
        )

    def _ontology(self) -> dict[str, Any]:
        """As DSTC2 describes a task."""
        world = self.world
        return {
            "informable": {slot: [] for slot in world.slots},
            "requestable": list(world.requestable),
            "method": list(METHODS),
        }


def _ranks(step: Step, n_words: int) -> Ints:
    evidence, said = step.evidence, step.exchange.said
    row, slot = np.nonzero(said != NONE)
    keys = row_of_each(evidence.offsets) * n_words + evidence.value
    if not len(keys):
        return np.full(len(row), NOWHERE)
    order = np.argsort(keys)
    key_said = (row * evidence.n_slots + slot) * n_words + said[row, slot]
    position = np.minimum(np.searchsorted(keys[order], key_said), len(keys) - 1)
    is_listed = keys[order][position] == key_said
    return np.where(is_listed, evidence.rank[order][position], NOWHERE)
