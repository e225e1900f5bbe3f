"""A tracker with errors added or removed on purpose, by kind and dose.

Errors are placed on what the tracker believes; its memory knows nothing of them. Scores only change places,
so that a belief is as sure as before and one thing moves at a time. Every draw is by dialog, turn, slot and
kind: the same dialogs get the same errors whatever tracker and policy they meet, and a larger dose has all
errors of a smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.labels import TurnLabels
from extrinsic.corpus.tracking import Heard, StepBelief, widened
from extrinsic.corpus.vocabulary import NONE
from extrinsic.errors import UsageError, did_you_mean
from extrinsic.simulation.chance import Chance
from extrinsic.trackers.protocol import BuiltInTracker

EARLY_TURNS = 5
"""Turns 0 to 4 are early, the others late."""

ABSENT, GOAL, FORMER, INVENTED = -1, 0, 1, 2
"""The columns that are appended to the candidates: the right value, the one that was right before it, and a
wrong value that nobody mentioned; each empty where it is a candidate already."""


@dataclass(frozen=True)
class Doses:
    """How much of which error, and where; the defaults change nothing.

    wrong, missed, overshot, stale: the share of the items where the error can be placed that get it; below 0,
    the share of those with the error that are put right.
      wrong:    a right best value changes places with the best value that never was right.
      missed:   a right best value changes places with None.
      overshot: None, where nothing is right yet, changes places with a wrong value.
      stale:    after a change, the right best value changes places with the value that was right before.
    temperature: b(v)^(1 / temperature), None included, normalised; below 1 is overconfident.
    second: the share of items whose scores below the best are drawn anew among the same values.
    none: the share of the values' scores that goes to None; below 0, of None's score that goes to them.
    slot, turns: only in that slot; only early or late.   clustered: the share of (dialog, slot) whose errors
    are at all turns or at none, instead of at each by itself.
    """

    wrong: float = 0.0
    missed: float = 0.0
    overshot: float = 0.0
    stale: float = 0.0
    temperature: float = 1.0
    second: float = 0.0
    none: float = 0.0
    slot: str = "all"
    turns: str = "all"
    clustered: float = 0.0

    @property
    def needs_labels(self) -> bool:
        """Scores alone can be changed everywhere without labels."""
        drawn = (self.wrong, self.missed, self.overshot, self.stale, self.second)
        return any(drawn) or self.slot != "all" or self.turns != "all"


class Dosed(BuiltInTracker):
    """Another tracker's beliefs with errors by dose."""

    def __init__(self, tracker: BuiltInTracker, **doses: float | str) -> None:
        self.tracker, self.doses = tracker, Doses(**doses)  # type: ignore[arg-type]
        self.planes, self.kind, self.rule = tracker.planes, tracker.kind, tracker.rule
        self.degenerate, self.parts = tracker.degenerate, (tracker,)

    def update(self, memory: Floats, heard: Heard) -> Floats:
        return self.tracker.update(memory, heard)

    def belief(self, memory: Floats, heard: Heard) -> Floats:
        return self.tracker.belief(memory, heard)

    def errors(self, n_dialogs: int, n_slots: int) -> DosedErrors:
        return DosedErrors(self.doses, n_dialogs, n_slots)


class _Items(NamedTuple):
    """The items (dialog, slot) of a turn while errors are placed.

    value, score (m, n_slots, width + 3): the candidates, then GOAL, FORMER and INVENTED.   none (m, n_slots).
    goal, former (m, n_slots): the columns of the right value, and of the one before it; ABSENT for none.
    ever_right (m, n_slots, width + 3): which values were right at some turn so far.
    lasting: they still are, by the labels; otherwise only the goal is.
    """

    value: Ids
    score: Floats
    none: Floats
    goal: Ints
    former: Ints
    ever_right: Bools
    lasting: bool


class DosedErrors:
    """The errors of n dialogs.

    goal, former (n, n_slots): the right value, and the one before it; NONE for none.
    ever_right (n, n_slots, width): which candidates were right at some turn.
    """

    def __init__(self, doses: Doses, n_dialogs: int, n_slots: int) -> None:
        self.doses = doses
        self.goal: Ids = np.zeros((n_dialogs, n_slots), dtype=np.int32)
        self.former: Ids = np.zeros((n_dialogs, n_slots), dtype=np.int32)
        self.ever_right: Bools = np.zeros((n_dialogs, n_slots, 0), dtype=bool)

    @property
    def needs_labels(self) -> bool:
        return self.doses.needs_labels

    def forget(self, dialogs: Ints) -> None:
        self.goal[dialogs] = self.former[dialogs] = NONE
        self.ever_right[dialogs] = False

    def place(self, dialogs: Ints, belief: StepBelief, labels: TurnLabels | None) -> StepBelief:
        """The beliefs with the errors; they are three columns wider."""
        if labels is None:
            if self.needs_labels:
                raise UsageError(
                    "these errors cannot be placed: nothing says here what is right",
                    expected="a corpus with labels, or live play in a world",
                    found=str(self.doses),
                )
            everywhere = np.ones(belief.score.shape[:2], dtype=bool)
            return StepBelief(belief.value, self._recalibrated(belief.score, everywhere))
        self._learn(dialogs, belief, labels)
        items = self._items(dialogs, belief, labels.lasting)
        chosen = self._chosen_items(labels)
        for kind in ("stale", "wrong", "missed", "overshot"):
            dose = getattr(self.doses, kind)
            if dose:
                hit = chosen & (self._draw(kind, labels) < abs(dose))
                getattr(self, f"_{kind}")(items, hit, dose > 0.0, labels)
        score = items.score
        if self.doses.second:
            hit = chosen & (self._draw("second", labels) < self.doses.second)
            score = _scrambled(items, hit, labels)
        return StepBelief(items.value, self._recalibrated(score, chosen))

    def _learn(self, dialogs: Ints, belief: StepBelief, labels: TurnLabels) -> None:
        """Take in what is right now."""
        width = belief.value.shape[-1]
        if width > self.ever_right.shape[-1]:
            self.ever_right = widened(self.ever_right, width)
        row, slot = dialogs[labels.row], labels.slot
        goal = self.goal[dialogs] if labels.lasting else np.zeros(belief.value.shape[:2], dtype=np.int32)
        goal[labels.row, slot] = labels.value  # of several, the last
        before = self.goal[dialogs]
        changed = (goal != before) & (before != NONE)
        self.former[dialogs] = np.where(changed, before, self.former[dialogs])
        self.goal[dialogs] = goal
        same = belief.value[labels.row, slot] == labels.value[:, None]
        which, position = np.nonzero(same)
        self.ever_right[row[which], slot[which], position] = True

    def _items(self, dialogs: Ints, belief: StepBelief, lasting: bool) -> _Items:
        width = belief.value.shape[-1]
        more = np.zeros((*belief.value.shape[:2], 3), dtype=np.int32)
        columns = []
        ever_right = np.concatenate([self.ever_right[dialogs], np.zeros(more.shape, dtype=bool)], axis=-1)
        for column, wanted in ((GOAL, self.goal[dialogs]), (FORMER, self.former[dialogs])):
            same = (belief.value == wanted[..., None]) & (wanted != NONE)[..., None]
            listed = same.any(axis=-1)
            more[..., column] = np.where(listed, NONE, wanted)
            place = np.where(listed, same.argmax(axis=-1), width + column)
            columns.append(np.where(wanted == NONE, ABSENT, place))
            ever_right[..., width + column] = True
        value = np.concatenate([belief.value, more], axis=-1)
        score = np.concatenate([belief.score, np.zeros(more.shape)], axis=-1)
        none = np.maximum(0.0, 1.0 - belief.score.sum(axis=-1))
        goal, former = columns
        return _Items(value, score, none, goal, former, ever_right, lasting)

    def _chosen_items(self, labels: TurnLabels) -> Bools:
        """(m, n_slots) where errors may be placed."""
        chosen = np.ones((len(labels.turn), len(labels.slots)), dtype=bool)
        if self.doses.slot != "all":
            if self.doses.slot not in labels.slots:
                advice = did_you_mean(self.doses.slot, labels.slots)
                raise UsageError(f"there is no slot {self.doses.slot!r} to place errors in; {advice}")
            chosen &= np.arange(len(labels.slots)) == labels.slots.index(self.doses.slot)
        early = (labels.turn < EARLY_TURNS)[:, None]
        return np.asarray(chosen & {"all": True, "early": early, "late": ~early}[self.doses.turns])

    def _draw(self, kind: str, labels: TurnLabels) -> Floats:
        """(m, n_slots) numbers in [0, 1): by turn, or for some (dialog, slot) the same at every turn."""
        chance, shape = Chance(labels.key), (len(labels.slots),)
        by_turn = chance.uniform(f"dose {kind}", labels.turn, shape)
        if not self.doses.clustered:
            return by_turn
        is_clustered = chance.uniform("dose clusters", 0, shape) < self.doses.clustered
        return np.where(is_clustered, chance.uniform(f"dose {kind} of dialogs", 0, shape), by_turn)

    def _wrong(self, items: _Items, hit: Bools, adds: bool, labels: TurnLabels) -> None:
        top, is_right, is_none = _tops(items)
        if adds:
            hit = hit & is_right
            _swap(items, hit, top, _wrong_columns(items, hit, labels))
        else:
            _swap(items, hit & ~is_none & ~_ever_right(items, top) & (items.goal >= 0), top, items.goal)

    def _missed(self, items: _Items, hit: Bools, adds: bool, labels: TurnLabels) -> None:
        top, is_right, is_none = _tops(items)
        if adds:
            _swap_with_none(items, hit & is_right, top)
        else:
            _swap_with_none(items, hit & is_none & (items.goal >= 0), items.goal)

    def _overshot(self, items: _Items, hit: Bools, adds: bool, labels: TurnLabels) -> None:
        top, _, is_none = _tops(items)
        hit = hit & (items.goal < 0)
        if adds:
            hit = hit & is_none
            _swap_with_none(items, hit, _wrong_columns(items, hit, labels))
        else:
            _swap_with_none(items, hit & ~is_none, top)

    def _stale(self, items: _Items, hit: Bools, adds: bool, labels: TurnLabels) -> None:
        top, _, is_none = _tops(items)
        hit = hit & ~is_none & (items.goal >= 0)
        if adds:
            _swap(items, hit & (top == items.goal) & (items.former >= 0), top, items.former)
        else:
            _swap(items, hit & (top != items.goal) & _ever_right(items, top), top, items.goal)

    def _recalibrated(self, score: Floats, chosen: Bools) -> Floats:
        """Temperature, and None's share."""
        none = np.maximum(0.0, 1.0 - score.sum(axis=-1, keepdims=True))
        after = score
        if self.doses.temperature != 1.0:
            power = 1.0 / self.doses.temperature
            # Relative to the best, which is 1: a low temperature would leave nothing of small scores.
            best = np.maximum(score.max(axis=-1, keepdims=True), none)
            raised, raised_none = (score / best) ** power, (none / best) ** power
            whole = raised.sum(axis=-1, keepdims=True) + raised_none
            after, none = raised / whole, raised_none / whole
        if self.doses.none > 0.0:
            after = (1.0 - self.doses.none) * after
        elif self.doses.none < 0.0:
            total = after.sum(axis=-1, keepdims=True)
            grown = (total - self.doses.none * none) / np.where(total > 0.0, total, 1.0)
            after = after * np.where(total > 0.0, grown, 1.0)
        return np.where(chosen[..., None], after, score)


def _tops(items: _Items) -> tuple[Ints, Bools, Bools]:
    """(m, n_slots) the column of the best value; whether it is right and above None; whether None is the
    best, as it is among equals."""
    top = items.score.argmax(axis=-1)
    best = np.take_along_axis(items.score, top[..., None], axis=-1)[..., 0]
    is_none = best <= items.none
    right = _ever_right(items, top) if items.lasting else top == items.goal
    return top, right & ~is_none, is_none


def _ever_right(items: _Items, column: Ints) -> Bools:
    """(m, n_slots) whether the value of a column was right at some turn so far."""
    return np.asarray(np.take_along_axis(items.ever_right, column[..., None], axis=-1)[..., 0])


def _wrong_columns(items: _Items, hit: Bools, labels: TurnLabels) -> Ints:
    """(m, n_slots) the column of a wrong value: the best candidate that never was right, or else a value that
    nobody mentioned, by a draw."""
    invented = items.value.shape[-1] - 1
    candidate = (items.value != NONE) & ~items.ever_right
    column = np.where(candidate, items.score, -1.0).argmax(axis=-1)
    row, slot = np.nonzero(hit & ~candidate.any(axis=-1))
    column[row, slot] = invented
    draws = Chance(labels.key).uniform("dose values", 0, (len(labels.slots),))
    for number in np.unique(slot):
        rows = row[slot == number]
        items.value[rows, number, invented] = _invented(items, rows, int(number), draws[rows, number], labels)
    return np.asarray(column)


def _invented(items: _Items, rows: Ints, slot: int, draws: Floats, labels: TurnLabels) -> Ids:
    """(k,) a value of the slot for each of these dialogs that is none of the values there already."""
    known = labels.known[slot] if len(labels.known) else np.zeros(0, dtype=np.int32)
    taken = items.value[rows, slot]
    place = (draws * len(known)).astype(np.int64)
    for _ in range(len(known)):
        again = (taken == known[place][:, None]).any(axis=1)
        if not again.any():
            return known[place]
        place = np.where(again, (place + 1) % len(known), place)
    raise UsageError(
        f"an error cannot be placed in the slot {labels.slots[slot]!r}: no wrong value of it is known",
        expected="a further value in the corpus, or among the world's `known_values`",
        found=f"{len(known)} known",
    )


def _swap(items: _Items, hit: Bools, one: Ints, other: Ints) -> None:
    """The scores of two columns change places."""
    row, slot = np.nonzero(hit)
    first, second = one[row, slot], other[row, slot]
    kept = items.score[row, slot, first]
    items.score[row, slot, first] = items.score[row, slot, second]
    items.score[row, slot, second] = kept


def _swap_with_none(items: _Items, hit: Bools, column: Ints) -> None:
    row, slot = np.nonzero(hit)
    chosen = column[row, slot]
    kept = items.score[row, slot, chosen]
    items.score[row, slot, chosen] = items.none[row, slot]
    items.none[row, slot] = kept


def _scrambled(items: _Items, hit: Bools, labels: TurnLabels) -> Floats:
    """(m, n_slots, width + 3) the scores, those below the best in another order among the same values."""
    score = items.score
    columns = np.arange(score.shape[-1])
    below = (score > 0.0) & (columns != score.argmax(axis=-1)[..., None]) & hit[..., None]
    shape = (len(labels.slots), len(columns))
    draws = Chance(labels.key).uniform("dose order", labels.turn, shape)
    # Those below the best first: as they stand, and in the order of the draws.
    standing = np.argsort(np.where(below, columns, len(columns)), axis=-1, kind="stable")
    drawn = np.argsort(np.where(below, draws, 2.0), axis=-1, kind="stable")
    # Where nothing is scrambled the two orders are equal.
    after = np.empty_like(score)
    np.put_along_axis(after, standing, np.take_along_axis(score, drawn, axis=-1), axis=-1)
    return after
