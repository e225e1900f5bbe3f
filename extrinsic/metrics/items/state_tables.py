"""Items of state sets, and conversions: beliefs as states, states as beliefs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, offsets_from_lengths
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.corpus import Corpus
from extrinsic.corpus.hypotheses import Fill
from extrinsic.corpus.state_sets import ABSENT, StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.metrics.items.dstc2 import SMALLEST_PROBABILITY, identify_rows
from extrinsic.metrics.items.item_hypotheses import HypothesisColumns, ItemHypotheses
from extrinsic.metrics.items.item_tables import ItemTable
from extrinsic.metrics.items.schedules import state_schedules
from extrinsic.metrics.items.state_items import StateItems

ALL = "all"
JOINT = "joint"
STATE = "state"
"""The component of filled beliefs: all slots as one state (`all` would be their items, pooled)."""

MULTIWOZ_SLOTS = {"attraction": 3, "hotel": 10, "restaurant": 7, "taxi": 4, "train": 6}
"""How many slots MultiWOZ 2.1 has in each of the five domains that are evaluated: 30 in all."""


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
    slot_fields = _certain_fields(predicted == ABSENT, gold == ABSENT, predicted == gold)
    empty = items.n_predicted == 0, items.n_gold == 0
    joint_fields = _certain_fields(empty[0][:, None], empty[1][:, None], items.match[:, None])
    fields = {name: np.concatenate([slot_fields[name], joint_fields[name]], axis=1) for name in slot_fields}
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
        correct=fields["correct"].astype(bool),
        top=np.concatenate([predicted, identity[0][:, None]], axis=1),
        truth=np.concatenate([gold, identity[1][:, None]], axis=1),
        hypotheses=(
            HypothesisColumns(
                tuple(range(n_slots)),
                lambda: _certain_hypotheses(predicted == ABSENT, gold == ABSENT, predicted == gold),
            ),
            HypothesisColumns((n_slots,), lambda: _certain_hypotheses(*empty, items.match)),
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
