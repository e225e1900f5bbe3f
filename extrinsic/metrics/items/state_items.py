"""The items of a state-set tracker: predicted and gold states of turns, and what metrics need of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.corpus import DialogTurns
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE


@dataclass(frozen=True, eq=False)
class StateItems(DialogTurns):
    """States of turns over some slots, on one schedule.

    offsets (n_dialogs + 1,): turns.   scheduled (n_turns,): the turns that count; metrics that look back
    still see the others.   given_gold, given_predicted (n_turns, n_slots): value ids as written.
    n_known_slots: how many slots the task has, whether or not they occur (slot accuracy divides by it).
    text: the value of an id in words.   domains (n_slots,): of each slot; empty where there are none.
    all_domains: those of the whole file, whatever slots these items have.
    """

    offsets: Ints
    scheduled: Bools
    given_gold: Ids
    given_predicted: Ids
    n_known_slots: int
    text: Callable[[int], str] = str
    domains: tuple[str, ...] = ()
    all_domains: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return int(self.scheduled.sum())

    def sum_by_dialog(self, values: Floats | Bools) -> Floats:
        """(n_dialogs,) or (n_dialogs, k) sums over the turns of each dialog."""
        return np.asarray(np.add.reduceat(values, self.offsets[:-1], axis=0, dtype=np.float64))

    @cached_property
    def gold(self) -> Ids:
        """(n_turns, n_slots) a slot that is none is not in the set."""
        return np.where(self.given_gold == GIVEN_NONE, ABSENT, self.given_gold)

    @cached_property
    def predicted(self) -> Ids:
        """As `gold`, (n_turns, n_slots)."""
        return np.where(self.given_predicted == GIVEN_NONE, ABSENT, self.given_predicted)

    @cached_property
    def agrees(self) -> Bools:
        """(n_turns, n_slots) equal, both absent included."""
        return np.asarray(self.gold == self.predicted)

    @cached_property
    def match(self) -> Bools:
        """(n_turns,) the two sets are equal."""
        return np.asarray(self.agrees.all(axis=1))

    @cached_property
    def n_differing(self) -> Ints:
        """(n_turns,) slots missed, wrong or too many, each counted once."""
        return np.asarray((~self.agrees).sum(axis=1))

    @cached_property
    def n_gold(self) -> Ints:
        """(n_turns,) triples in the gold state."""
        return np.asarray((self.gold != ABSENT).sum(axis=1))

    @cached_property
    def n_predicted(self) -> Ints:
        """(n_turns,) triples in the predicted state."""
        return np.asarray((self.predicted != ABSENT).sum(axis=1))

    @cached_property
    def n_right(self) -> Ints:
        """(n_turns,) triples in both sets."""
        return np.asarray((self.agrees & (self.gold != ABSENT)).sum(axis=1))

    @cached_property
    def n_active(self) -> Ints:
        """(n_turns,) slots in at least one of the sets."""
        return np.asarray(((self.gold != ABSENT) | (self.predicted != ABSENT)).sum(axis=1))

    @cached_property
    def starts(self) -> Bools:
        """(n_turns,) the first turn of each dialog."""
        starts = np.zeros(len(self.scheduled), dtype=bool)
        starts[self.offsets[:-1]] = True
        return starts

    def previous(self, values: np.ndarray, at_start: int) -> np.ndarray:
        """The values one turn earlier, `at_start` at the first turn of a dialog."""
        shifted = np.empty_like(values)
        shifted[1:] = values[:-1]
        shifted[self.starts] = at_start
        return shifted

    @cached_property
    def locally_right(self) -> Bools:
        """(n_turns,) what is new in gold is predicted, and what is new in the prediction is gold."""
        new_gold = (self.gold != self.previous(self.gold, ABSENT)) & (self.gold != ABSENT)
        new_predicted = (self.predicted != self.previous(self.predicted, ABSENT)) & (self.predicted != ABSENT)
        return np.asarray(~((new_gold | new_predicted) & ~self.agrees).any(axis=1))

    def local_errors(self, literal: bool) -> Bools:
        """(n_turns,) turns that went wrong by themselves (FGA's errors of type 1).

        As published, a wrong turn right after a matching one is such an error whatever the local test says;
        taken literally, the algorithm uses only the first turn and the local test.
        """
        by_itself = self.starts | ~self.locally_right
        if not literal:
            by_itself = by_itself | self.previous(self.match, 0)
        return np.asarray(~self.match & by_itself)

    @cached_property
    def changes(self) -> Changes:
        return Changes(self)


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes of state, judged one by one (granular change accuracy).

    A slot that has occurred stays for the rest of the dialog, as none when its value disappears. Values:
    ABSENT means it has not occurred so far, GIVEN_NONE that it occurred and is now none.
    """

    items: StateItems

    def _carried(self, states: Ids) -> Ids:
        """(n_turns, n_slots) the states with slots once given kept as GIVEN_NONE."""
        turn = np.where(states != ABSENT, np.arange(len(states))[:, None], -1)
        first = self.items.offsets[self.items.dialog_of_turn][:, None]
        so_far = np.maximum.accumulate(turn, axis=0) >= first
        return np.where(states > GIVEN_NONE, states, np.where(so_far, GIVEN_NONE, ABSENT))

    @property
    def counts(self) -> Floats:
        """(n_turns, 5): correct, wrong, missed, overshot; and drops that both sides made at once."""
        return self._judged[0]

    def credit(self, similarity: Callable[[str, str], float]) -> Floats:
        """(n_turns,) similarities of gold and predicted values of wrong changes, summed; 0 against none."""
        gold, predicted = self.items.gold, self.items.predicted
        turn, slot = np.nonzero(self._judged[1] & (gold != ABSENT) & (predicted != ABSENT))
        pairs = np.stack([gold[turn, slot], predicted[turn, slot]], axis=1)
        distinct, pair = np.unique(pairs, axis=0, return_inverse=True)
        text = self.items.text
        alike = np.array([similarity(text(one), text(other)) for one, other in distinct.tolist()])
        credits = alike[pair.ravel()] if len(pairs) else np.zeros(0)
        return np.bincount(turn, credits, minlength=len(gold)).astype(np.float64)

    @cached_property
    def _judged(self) -> tuple[Floats, Bools]:
        """The `counts`, and (n_turns, n_slots) which slots are counted as wrong.

        A slot whose gold value changed:              A slot whose predicted value changed:
        prediction lacks it   missed (to none: C)     gold lacks it          overshot (to none: C)
        equal                 correct                 equal, not yet C       correct
        gold none             overshot                prediction none        missed
        else                  wrong                   else, not yet W        wrong
        """
        gold, predicted = self._carried(self.items.given_gold), self._carried(self.items.given_predicted)
        gold_changed = gold != self.items.previous(gold, ABSENT)
        predicted_changed = predicted != self.items.previous(predicted, ABSENT)
        equal = gold == predicted
        gold_none, predicted_none = gold == GIVEN_NONE, predicted == GIVEN_NONE
        gold_lacks, prediction_lacks = gold == ABSENT, predicted == ABSENT

        missed = gold_changed & prediction_lacks & ~gold_none
        correct = gold_changed & ((prediction_lacks & gold_none) | (~prediction_lacks & equal))
        overshot = gold_changed & ~prediction_lacks & ~equal & gold_none
        wrong = gold_changed & ~prediction_lacks & ~equal & ~gold_none

        in_gold = predicted_changed & ~gold_lacks
        also_overshot = predicted_changed & gold_lacks & ~predicted_none
        also_correct = (predicted_changed & gold_lacks & predicted_none) | (in_gold & equal & ~correct)
        also_missed = in_gold & ~equal & predicted_none
        also_wrong = in_gold & ~equal & ~predicted_none & ~wrong
        both_dropped = gold_changed & predicted_changed & gold_none & predicted_none
        kinds = (
            (correct, also_correct),
            (wrong, also_wrong),
            (missed, also_missed),
            (overshot, also_overshot),
            (both_dropped,),
        )
        counted = [sum(part.sum(axis=1) for part in kind) for kind in kinds]
        return np.stack(counted, axis=1).astype(np.float64), wrong | also_wrong
