"""The annotators' labels, which values they make right at each turn, and labels for errors on purpose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from extrinsic.arrays import Bools, Columns, Ids, Ints, row_of_each, take_spans
from extrinsic.corpus.acts import NONE, Acts


class Truth(Protocol):
    """Which values are right at a turn."""

    def is_correct(self, turn: Ints, slot: Ints, value: Ids) -> Bools:
        """Elementwise: whether the value (None included) is right for the slot at the turn."""
        ...


@dataclass(frozen=True, eq=False)
class TableTruth:
    """One right value per (turn, slot); value (n_turns, n_slots), NONE where nothing is labelled."""

    value: Ids

    def is_correct(self, turn: Ints, slot: Ints, value: Ids) -> Bools:
        return np.asarray(self.value[turn, slot] == value)


@dataclass(frozen=True, eq=False)
class SpanTruth:
    """Values that are right for a stretch of turns; a slot may have several at once.

    slot, value, start, end (n_spans,), sorted by (slot, value, start); spans of one (slot, value) do not
    overlap.   label (n_spans,): which label began the span, in the order of the files.
    none (n_turns, n_slots): whether None is right, that is no value is.
    """

    slot: Ints
    value: Ids
    start: Ints
    end: Ints
    label: Ints
    none: Bools

    def is_correct(self, turn: Ints, slot: Ints, value: Ids) -> Bools:
        if len(self.slot) == 0:
            return np.asarray((value == NONE) & self.none[turn, slot])
        # The last span that begins at or before the turn, of this slot and value or an earlier one.
        n_turns, n_values = len(self.none), int(max(self.value.max(), value.max(initial=0))) + 1
        keys = (self.slot * n_values + self.value) * n_turns + self.start
        last_span = np.searchsorted(keys, (slot * n_values + value) * n_turns + turn, side="right") - 1
        span = np.maximum(last_span, 0)
        covers = (
            (self.slot[span] == slot)
            & (self.value[span] == value)
            & (turn < self.end[span])
            & (last_span >= 0)
        )
        return np.where(value == NONE, self.none[turn, slot], covers)


@dataclass(frozen=True, eq=False)
class LabelEvents:
    """DSTC1: at some turns annotators judged whether an observed value is what the caller wants.

    turn, slot, value, correct (n_events,), in the order of the files.
    """

    turn: Ints
    slot: Ints
    value: Ids
    correct: Bools

    def take(self, turns: Ints) -> LabelEvents:
        """The events of the chosen turns, which become turns 0, 1, 2, ..."""
        order, turn = self._by_turn
        offsets, flat = take_spans(np.searchsorted(turn, turns), np.searchsorted(turn, turns, side="right"))
        chosen = flat if order is None else order[flat]
        return LabelEvents(row_of_each(offsets), self.slot[chosen], self.value[chosen], self.correct[chosen])

    @cached_property
    def _by_turn(self) -> tuple[Ints | None, Ints]:
        """The order of the events by turn (None: as they are), and (n_events,) their turns in that order."""
        if (self.turn[1:] >= self.turn[:-1]).all():
            return None, self.turn
        order = np.argsort(self.turn, kind="stable")
        return order, self.turn[order]

    def truth(self, segment_end: Ints, n_slots: int) -> SpanTruth:
        """A value once right stays right until its segment ends (at a restart or the dialog's end).

        segment_end (n_turns,): the turn at which the segment of each turn ends (exclusive).
        """
        right = np.flatnonzero(self.correct)
        turn, slot, value = self.turn[right], self.slot[right], self.value[right]
        end = segment_end[turn]
        order = np.lexsort((turn, end, value, slot))
        slot, value, turn, end = slot[order], value[order], turn[order], end[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (slot[1:] != slot[:-1]) | (value[1:] != value[:-1]) | (end[1:] != end[:-1])
        slot, value, start, end = slot[first], value[first], turn[first], end[first]
        none = ~covered(slot, start, end, len(segment_end), n_slots)
        return SpanTruth(slot, value, start, end, right[order][first], none)

    def labelled(self, segment_end: Ints, n_slots: int) -> Bools:
        """(n_turns, n_slots) whether any value of the slot was labelled, right or wrong, so far."""
        return covered(self.slot, self.turn, segment_end[self.turn], len(segment_end), n_slots)


def covered(slot: Ints, start: Ints, end: Ints, n_turns: int, n_slots: int) -> Bools:
    """(n_turns, n_slots) whether some span [start, end) of the slot contains the turn."""
    steps = np.zeros((n_turns + 1, n_slots), dtype=np.int32)
    np.add.at(steps, (start, slot), 1)
    np.add.at(steps, (end, slot), -1)
    return np.asarray(np.cumsum(steps[:-1], axis=0) > 0)


@dataclass(frozen=True, eq=False)
class GoalLabels(Columns):
    """DSTC2: what the caller wants at every turn, and what the annotators heard.

    goal (n_turns, n_slots), NONE where unlabelled.   requested (n_turns, n_requestable).
    method (n_turns,).   heard: the annotated user acts of every turn.
    """

    goal: Ids
    requested: Bools
    method: Ids
    heard: Acts

    def truth(self) -> TableTruth:
        """Label scheme a: the labels as given at each turn."""
        return TableTruth(self.goal)
