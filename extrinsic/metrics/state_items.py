"""The items of states, predicted and gold: what metrics need of turns, tables of them, and conversions.

A belief tracker's beliefs are filled to states, and states are beliefs with score 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, offsets_from_lengths
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus, DialogTurns
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE, StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.belief_items import HypothesisColumns, ItemHypotheses, ItemTable
from extrinsic.metrics.dstc2_items import SMALLEST_PROBABILITY, identify_rows
from extrinsic.metrics.schedules import state_schedules

ALL = "all"
JOINT = "joint"
STATE = "state"
"""The component of filled beliefs: all slots as one state (`all` would be their items, pooled)."""

MULTIWOZ_SLOTS = {"attraction": 3, "hotel": 10, "restaurant": 7, "taxi": 4, "train": 6}
"""How many slots MultiWOZ 2.1 has in each of the five domains that are evaluated: 30 in all."""


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


@dataclass(frozen=True, eq=False)
class StateTable:
    """States of one tracker; a component is all slots, or those of a domain.

    offsets (n_dialogs + 1,).   gold, predicted (n_turns, n_slots): value ids as written.
    components: the columns of each.   n_known_slots: how many slots the task has, for each component.
    text: the value of an id in words.   domains (n_slots,): of each slot; empty where there are none.
    """

    offsets: Ints
    gold: Ids
    predicted: Ids
    components: dict[str, tuple[int, ...]]
    n_known_slots: dict[str, int]
    schedules: dict[int, Bools]
    label_scheme: str | None = None
    text: Callable[[int], str] = str
    domains: tuple[str, ...] = ()

    def select(self, component: str, schedule: int) -> StateItems:
        columns = list(self.components[component])
        return StateItems(
            self.offsets,
            self.schedules[schedule],
            self.gold[:, columns],
            self.predicted[:, columns],
            self.n_known_slots[component],
            self.text,
            tuple(self.domains[column] for column in columns) if self.domains else (),
            tuple(sorted(set(self.domains))),
        )


def table_of_states(states: StateSets) -> StateTable:
    """All slots, and those of each domain (over all turns)."""
    components = {ALL: tuple(range(len(states.slots)))}
    n_known: dict[str, int] = {}
    for domain in states.domains:
        columns = tuple(column for column, slot in enumerate(states.slots) if slot[0] == domain)
        components[domain] = columns
        # For a domain outside MultiWOZ, only the slots of the gold states are known.
        in_gold = int(states.in_gold[list(columns)].sum())
        n_known[domain] = max(MULTIWOZ_SLOTS.get(domain, 1), in_gold)
    n_known[ALL] = max(sum(MULTIWOZ_SLOTS.values()), int(states.in_gold.sum()))
    return StateTable(
        states.offsets,
        states.gold,
        states.predicted,
        components,
        n_known,
        state_schedules(states.offsets),
        text=states.vocabulary.text,
        domains=tuple(domain for domain, _ in states.slots),
    )


def tables_of_filled_beliefs(corpus: Corpus, tracker: TrackerOutput, fill: Fill) -> Iterator[StateTable]:
    """The states that a tracker's filled beliefs form, for each label scheme of the corpus."""
    predicted = predicted_states(corpus, tracker, fill)
    n_slots = len(corpus.slots)
    for scheme in corpus.conventions.label_schemes:
        gold = corpus.conventions.gold_states(corpus, predicted, scheme)
        yield StateTable(
            corpus.offsets,
            _as_state(gold),
            _as_state(predicted),
            {STATE: tuple(range(n_slots))},
            {STATE: n_slots},
            state_schedules(corpus.offsets),
            scheme,
            text=lambda identity: corpus.vocabulary.text(identity - 1),
        )


def _as_state(values: Ids) -> Ids:
    """Ids of a corpus's vocabulary, shifted up by one: GIVEN_NONE is not one of its values."""
    return np.where(values == NONE, ABSENT, values + 1).astype(np.int32)


def predicted_states(corpus: Corpus, tracker: TrackerOutput, fill: Fill) -> Ids:
    """(n_turns, n_slots) the states that a tracker's filled beliefs form."""
    return fill.states(tracker.marginals(corpus)).reshape(corpus.n_turns, len(corpus.slots))


def beliefs_of_states(states: StateSets) -> ItemTable:
    """State sets as beliefs with score 1: a predicted slot has its value, another has None.

    Where a value is predicted, None comes second with score 0: it is always among the hypotheses. The slots
    are those of the gold states, so that all systems are scored on the same items; a predicted slot outside
    of them makes the joint wrong.
    """
    items = table_of_states(states).select(ALL, 1)
    in_gold = np.flatnonzero(states.in_gold)
    predicted, gold = items.predicted[:, in_gold], items.gold[:, in_gold]
    # The slots, and the joint behind them.
    says_none = np.column_stack([predicted == ABSENT, items.n_predicted == 0])
    is_none = np.column_stack([gold == ABSENT, items.n_gold == 0])
    right = np.column_stack([predicted == gold, items.match])
    fields = _certain_fields(says_none, is_none, right)
    identity = identify_rows(np.stack([items.predicted, items.gold]))
    n_slots = len(in_gold)
    names = ["-".join(states.slots[column]) for column in in_gold]
    schedules = state_schedules(states.offsets)
    return ItemTable(
        roc_points="distinct_scores",
        label_scheme=None,
        offsets=states.offsets,
        components={
            **{name: (column,) for column, name in enumerate(names)},
            JOINT: (n_slots,),
            ALL: tuple(range(n_slots)),
        },
        schedules={
            number: np.repeat(mask[:, None], n_slots + 1, axis=1) for number, mask in schedules.items()
        },
        fields=fields,
        top_score=np.ones_like(fields["correct"]),
        correct=right,
        top=np.column_stack([predicted, identity[0]]),
        truth=np.column_stack([gold, identity[1]]),
        hypotheses=(
            HypothesisColumns(
                tuple(range(n_slots + 1)), lambda: _certain_hypotheses(says_none, is_none, right)
            ),
        ),
    )


def _certain_hypotheses(says_none: Bools, is_none: Bools, right: Bools) -> ItemHypotheses:
    """None alone, or a value with score 1 before None with 0."""
    offsets = offsets_from_lengths(np.where(says_none.ravel(), 1, 2))
    first, last = offsets[:-1], offsets[1:] - 1
    score, correct = np.zeros(offsets[-1]), np.zeros(offsets[-1], dtype=bool)
    none = np.zeros(offsets[-1], dtype=bool)
    score[first] = 1.0
    correct[last] = is_none.ravel()
    correct[first] = right.ravel()
    none[last] = True
    return ItemHypotheses(offsets, score, correct, none)


def _certain_fields(says_none: Bools, is_none: Bools, right: Bools) -> dict[str, Floats]:
    """Fields of distributions with a single value of score 1."""
    correct = right.astype(np.float64)
    return {
        "correct": correct,
        "probability": correct,
        "reciprocal_rank": np.where(right, 1.0, np.where(is_none & ~says_none, 0.5, 0.0)),
        "l2": 2.0 * (1.0 - correct),
        "l2_lee": np.sqrt(2.0 * (1.0 - correct)),
        "brier": 2.0 * (1.0 - correct),
        "l2_binary": 2.0 * (1.0 - correct),
        "neglogp": -np.log(np.maximum(SMALLEST_PROBABILITY, correct)),
        "hypothesis_count": (~says_none).astype(np.float64),
        "nonempty": (~says_none).astype(np.float64),
    }
