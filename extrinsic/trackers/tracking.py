"""Running a tracker on many dialogs in lockstep: it scores candidates, the values mentioned so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Columns, Floats, Ids, Ints, offsets_from_lengths, row_of_each
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.evidence import Evidence
from extrinsic.corpus.hypotheses import Hypotheses
from extrinsic.errors import UsageError

FIRST_WIDTH = 8


class Candidates:
    """Per (dialog, slot) the values in order of first appearance.

    value (n_dialogs, n_slots, width), NONE where unused.   count (n_dialogs, n_slots).
    """

    def __init__(self, n_dialogs: int, n_slots: int) -> None:
        self.value: Ids = np.full((n_dialogs, n_slots, FIRST_WIDTH), NONE, dtype=np.int32)
        self.count: Ints = np.zeros((n_dialogs, n_slots), dtype=np.int64)

    @property
    def width(self) -> int:
        return int(self.value.shape[2])

    def forget(self, dialogs: Ints) -> None:
        self.value[dialogs] = NONE
        self.count[dialogs] = 0

    def locate(self, dialogs: Ints, evidence: Evidence) -> Ints:
        """(r,) the position of each row of evidence among the candidates of its dialog; adds new ones.

        Row i of `evidence.restart` is a turn of dialogs[i].
        """
        n_slots = evidence.n_slots
        item = row_of_each(evidence.offsets)
        dialog, slot = dialogs[item // n_slots], item % n_slots
        same = self.value[dialog, slot] == evidence.value[:, None]
        is_candidate = same.any(axis=1)
        # Several new values of one item take the next positions in their order.
        new_before = np.cumsum(~is_candidate) - ~is_candidate
        start = np.append(new_before, 0)[np.minimum(evidence.offsets[:-1], len(is_candidate))]
        position = np.where(
            is_candidate, same.argmax(axis=1), self.count[dialog, slot] + new_before - start[item]
        )
        width = int(position.max(initial=-1)) + 1
        # In powers of two: sums over candidates are then the same whatever dialogs are tracked beside.
        if width > self.width:
            self.value = widened(self.value, FIRST_WIDTH * 2 ** int(np.ceil(np.log2(width / FIRST_WIDTH))))
        self.value[dialog, slot, position] = evidence.value
        new = np.flatnonzero(~is_candidate)
        np.add.at(self.count, (dialog[new], slot[new]), 1)
        return np.asarray(position)


def widened(array: npt.NDArray, width: int) -> npt.NDArray:  # type: ignore[type-arg]
    """The array with its last axis padded with zeros up to a width."""
    if width == array.shape[-1]:
        return array
    more = np.zeros((*array.shape[:-1], width - array.shape[-1]), dtype=array.dtype)
    return np.concatenate([array, more], axis=-1)


def _laid_out(name: str) -> cached_property[npt.NDArray[Any]]:
    """A property of Heard: a column of its evidence, arranged by candidate."""
    return cached_property(lambda heard: heard.laid_out(getattr(heard.evidence, name)))


@dataclass(frozen=True, eq=False)
class Heard:
    """The evidence of one turn of each of m dialogs, arranged by candidate.

    Arrays are (m, n_slots, width), computed on first access; 0 or False for a value not mentioned.
    value: the candidates themselves, NONE for unused positions.
    """

    evidence: Evidence
    place: Ints
    value: Ids

    @property
    def is_candidate(self) -> Bools:
        """Which positions have a candidate."""
        return np.asarray(self.value != NONE)

    informed = _laid_out("informed")
    affirmed = _laid_out("affirmed")
    top = _laid_out("top")
    denied = _laid_out("denied")
    rejected = _laid_out("rejected")
    explicit = _laid_out("explicit")
    implicit = _laid_out("implicit")

    @cached_property
    def rank(self) -> Floats:
        """1 for the best hypothesis that informs it, 1/2 for the second, ...; 0 for none."""
        rank = self.evidence.rank
        return self.laid_out(np.where(rank < 0, 0.0, 1.0 / (1.0 + np.maximum(rank, 0))))

    @property
    def requested(self) -> Bools:
        """(m, n_slots)"""
        return self.evidence.requested

    def take(self, row: Ints, slot: Ints) -> Heard:
        """The chosen slots of the dialogs, each as a dialog with a single slot: arrays are (k, 1, width)."""
        chosen, rows = self.evidence.taken_items(row, slot[:, None])
        return Heard(chosen, self.place[rows], self.value[row, slot][:, None])

    def laid_out(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(m, n_slots, width) of a column (r,) of the evidence."""
        table = np.zeros(self.value.shape, dtype=column.dtype)
        item = row_of_each(self.evidence.offsets)
        n_slots = self.evidence.n_slots
        table[item // n_slots, item % n_slots, self.place] = column
        return table


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
class StepBelief(Columns):
    """Beliefs of m dialogs after one turn: value, score (m, n_slots, width); value NONE: no candidate."""

    value: Ids
    score: Floats


def joined_beliefs(parts: Sequence[StepBelief]) -> StepBelief:
    """The beliefs of several groups of dialogs as those of one."""
    width = max(part.score.shape[2] for part in parts)
    return StepBelief(
        np.concatenate([widened(part.value, width) for part in parts]),
        np.concatenate([widened(part.score, width) for part in parts]),
    )


class BeliefRows:
    """Gathers the beliefs of steps into the hypotheses of a corpus."""

    def __init__(self) -> None:
        self._steps: list[tuple[Ints, Ints, Ids, Floats]] = []

    def add(self, turns: Ints, belief: StepBelief) -> None:
        """Add the beliefs after the given turns."""
        _, n_slots, width = belief.score.shape
        score = belief.score.ravel()
        flat = np.flatnonzero(score > 0.0)
        item = flat // width
        value = belief.value.ravel()[flat]
        self._steps.append((turns[item // n_slots], item % n_slots, value, score[flat]))

    def hypotheses(self, n_turns: int, n_slots: int, number: Ints | None = None) -> Hypotheses:
        """The hypotheses at turns 0, 1, ...; number (n_turns,): the final number of each turn."""
        turn, slot, value, score = map(np.concatenate, zip(*self._steps, strict=True))
        item = (turn if number is None else number[turn]) * n_slots + slot
        order = np.argsort(item, kind="stable")
        offsets = offsets_from_lengths(np.bincount(item, minlength=n_turns * n_slots))
        return Hypotheses(offsets, value[order], score[order])


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

    def step(self, dialogs: Ints, evidence: Evidence) -> StepBelief:
        """Process one more turn of each of the chosen dialogs."""
        restarted = dialogs[evidence.restart]
        if len(restarted):
            self.candidates.forget(restarted)
            self._memory[:, restarted] = 0.0
        position = self.candidates.locate(dialogs, evidence)
        if self.candidates.width > self._memory.shape[-1]:
            self._memory = widened(self._memory, self.candidates.width)
        value = self.candidates.value[dialogs]
        return StepBelief(value, self._scores(dialogs, evidence, position, value))

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
