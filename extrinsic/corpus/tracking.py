"""Running a tracker on many dialogs in lockstep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, offsets_from_lengths
from extrinsic.corpus.candidates import FIRST_WIDTH, Candidates, Heard, widened
from extrinsic.corpus.evidence import Evidence
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.errors import UsageError

if TYPE_CHECKING:
    from extrinsic.corpus.turn_labels import TurnLabels


WORTH_DIVIDING = 100
"""Dialogs with many candidates are tracked apart from the others where there are more than so many in all."""


class Tracker(Protocol):
    """Keeps numbers for every candidate and computes a belief from them.

    It sees one turn of each of m dialogs at a time. Its memory is (planes, m, n_slots, width): `planes`
    numbers per candidate, 0 for one never mentioned.
    """

    @property
    def planes(self) -> int: ...

    def update(self, memory: Floats, heard: Heard) -> Floats:
        """The memory after a turn."""
        ...

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        """(m, n_slots, width) the scores after that turn, at least 0, at most 1 in sum for each slot."""
        ...


@dataclass(frozen=True, eq=False)
class StepBelief:
    """Beliefs of m dialogs after one turn: value, score (m, n_slots, width); value NONE: no candidate."""

    value: Ids
    score: Floats

    def take(self, rows: Ints | Bools) -> StepBelief:
        return StepBelief(self.value[rows], self.score[rows])


class PlacedErrors(Protocol):
    """What a tracker that errs on purpose does to the beliefs of n dialogs; `Tracker.errors` makes it."""

    @property
    def needs_labels(self) -> bool: ...

    def forget(self, dialogs: Ints) -> None:
        """These dialogs begin anew."""
        ...

    def place(self, dialogs: Ints, belief: StepBelief, labels: TurnLabels | None) -> StepBelief:
        """The beliefs after a turn of each of some dialogs, with the errors."""
        ...


class BeliefRows:
    """Gathers the beliefs of steps into the hypotheses of a corpus."""

    def __init__(self) -> None:
        self._turns: list[Ints] = []
        self._slots: list[Ints] = []
        self._values: list[Ids] = []
        self._scores: list[Floats] = []

    def add(self, turns: Ints, belief: StepBelief) -> None:
        """Add the beliefs after the given turns."""
        _, n_slots, width = belief.score.shape
        score = belief.score.ravel()
        flat = np.flatnonzero(score > 0.0)
        item = flat // width
        self._turns.append(turns[item // n_slots])
        self._slots.append(item % n_slots)
        self._values.append(belief.value.ravel()[flat])
        self._scores.append(score[flat])

    def hypotheses(self, n_turns: int, n_slots: int, number: Ints | None = None) -> Hypotheses:
        """The hypotheses at turns 0, 1, ...; number (n_turns,): the final number of each turn."""
        turn = np.concatenate(self._turns)
        item = (turn if number is None else number[turn]) * n_slots + np.concatenate(self._slots)
        order = np.argsort(item, kind="stable")
        return Hypotheses(
            offsets_from_lengths(np.bincount(item, minlength=n_turns * n_slots)),
            np.concatenate(self._values)[order],
            np.concatenate(self._scores)[order],
        )


class Tracking:
    """The memory of one tracker for n dialogs.

    together: all dialogs of a step are given to the tracker at once, as one that records what it sees needs.
    """

    def __init__(self, tracker: Tracker, n_dialogs: int, n_slots: int, together: bool = False) -> None:
        if not hasattr(tracker, "planes"):
            advice = "; call tracker.fit([corpus]) first" if hasattr(tracker, "fit") else ""
            raise UsageError(f"{tracker!r} cannot track{advice}")
        self.tracker, self.together = tracker, together
        self.candidates = Candidates(n_dialogs, n_slots)
        self._memory: Floats = np.zeros((tracker.planes, n_dialogs, n_slots, self.candidates.width))
        errors = getattr(tracker, "errors", None)
        self.errors: PlacedErrors | None = None if errors is None else errors(n_dialogs, n_slots)

    def step(self, dialogs: Ints, evidence: Evidence, labels: TurnLabels | None = None) -> StepBelief:
        """Process one more turn of each of the chosen dialogs; labels: for a tracker that errs on purpose."""
        restarted = dialogs[evidence.restart]
        if len(restarted):
            self.candidates.forget(restarted)
            self._memory[:, restarted] = 0.0
            if self.errors is not None:
                self.errors.forget(restarted)
        position = self.candidates.locate(dialogs, evidence)
        if self.candidates.width > self._memory.shape[-1]:
            self._memory = widened(self._memory, self.candidates.width)
        value = self.candidates.value[dialogs]
        belief = StepBelief(value, self._scores(dialogs, evidence, position, value))
        return belief if self.errors is None else self.errors.place(dialogs, belief, labels)

    def _scores(self, dialogs: Ints, evidence: Evidence, position: Ints, value: Ids) -> Floats:
        """(m, n_slots, width) Most dialogs have few candidates: they are computed in the first columns."""
        width = value.shape[2]
        many = (self.candidates.count[dialogs] > FIRST_WIDTH).any(axis=1)
        if self.together or width == FIRST_WIDTH or len(dialogs) < WORTH_DIVIDING or many.all():
            return self._tracked(dialogs, Heard(evidence, position, value))
        scores = np.zeros(value.shape)
        for rows, columns in ((np.flatnonzero(~many), FIRST_WIDTH), (np.flatnonzero(many), width)):
            if len(rows):
                own, of_rows = evidence.taken(rows)
                heard = Heard(own, position[of_rows], value[rows, :, :columns])
                scores[rows, :, :columns] = self._tracked(dialogs[rows], heard)
        return scores

    def _tracked(self, dialogs: Ints, heard: Heard) -> Floats:
        """(m, n_slots, width) the scores of dialogs of which only the first candidates are looked at."""
        width = heard.value.shape[2]
        memory = self.tracker.update(self._memory[:, dialogs, :, :width], heard)
        self._memory[:, dialogs, :, :width] = memory
        return self.tracker.belief(memory, heard)


def turns_in_step(offsets: Ints, dialogs: Ints) -> Iterator[tuple[Ints, Ints]]:
    """For the first turn of all dialogs, then the second, ...: the dialogs that have it, and its index.

    Dialogs are given as positions in `dialogs`, turns as those of the corpus.
    """
    lengths = np.diff(offsets)[dialogs]
    for number in range(int(lengths.max(initial=0))):
        active = np.flatnonzero(lengths > number)
        yield active, offsets[dialogs[active]] + number
