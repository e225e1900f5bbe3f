"""From state sets to items, and across the bridge: beliefs as states, states as beliefs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.state_sets import ABSENT, StateSets
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.corpus.vocabulary import NONE
from extrinsic.metrics.fill import Fill, gold_states, predicted_states
from extrinsic.metrics.items_dstc2 import identify_rows
from extrinsic.metrics.schedules import state_schedules
from extrinsic.metrics.state_items import StateItems
from extrinsic.metrics.tables import ItemTable

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
    """

    offsets: Ints
    gold: Ids
    predicted: Ids
    components: dict[str, tuple[int, ...]]
    n_known_slots: dict[str, int]
    schedules: dict[int, Bools]
    label_scheme: str | None = None

    def select(self, component: str, schedule: int) -> StateItems:
        columns = list(self.components[component])
        return StateItems(
            self.offsets,
            self.schedules[schedule],
            self.gold[:, columns],
            self.predicted[:, columns],
            self.n_known_slots[component],
        )


def table_of_states(states: StateSets) -> StateTable:
    """All slots, and those of each domain (over all turns)."""
    components = {ALL: tuple(range(len(states.slots)))}
    known = {ALL: sum(MULTIWOZ_SLOTS.values())}
    for domain in states.domains:
        columns = tuple(column for column, slot in enumerate(states.slots) if slot[0] == domain)
        components[domain] = columns
        in_gold = (states.gold[:, list(columns)] != ABSENT).any(axis=0).sum()
        known[domain] = MULTIWOZ_SLOTS.get(domain, max(int(in_gold), 1))
    return StateTable(
        states.offsets, states.gold, states.predicted, components, known, state_schedules(states.offsets)
    )


def tables_of_filled_beliefs(corpus: Corpus, tracker: TrackerOutput, fill: Fill) -> Iterator[StateTable]:
    """The states that a belief tracker's beliefs amount to, for each label scheme of the corpus."""
    predicted = predicted_states(corpus, tracker, fill)
    n_slots = len(corpus.slots)
    for scheme in ("a", "b") if corpus.format == "dstc2" else (None,):
        gold = gold_states(corpus, predicted, scheme or "a")
        yield StateTable(
            corpus.offsets,
            _as_state(gold),
            _as_state(predicted),
            {STATE: tuple(range(n_slots))},
            {STATE: n_slots},
            state_schedules(corpus.offsets),
            scheme,
        )


def _as_state(values: Ids) -> Ids:
    """Ids of a corpus's vocabulary, moved up by one: GIVEN_NONE is no value of it."""
    return np.where(values == NONE, ABSENT, values + 1).astype(np.int32)


def beliefs_of_states(states: StateSets) -> ItemTable:
    """State sets as beliefs with score 1: a predicted slot has its value, another has None.

    None stands second, with score 0, where a value is predicted: it is always among the hypotheses.
    """
    items = table_of_states(states).select(ALL, 1)
    slot_fields = _certain_fields(items.predicted == ABSENT, items.gold == ABSENT, items.agrees)
    empty = items.n_predicted == 0, items.n_gold == 0
    joint_fields = _certain_fields(empty[0][:, None], empty[1][:, None], items.match[:, None])
    fields = {name: np.concatenate([slot_fields[name], joint_fields[name]], axis=1) for name in slot_fields}
    identity = identify_rows(np.stack([items.predicted, items.gold]))
    n_slots = len(states.slots)
    schedules = state_schedules(states.offsets)
    return ItemTable(
        rule="dstc2",
        label_scheme=None,
        offsets=states.offsets,
        components={
            **{f"{domain}-{slot}": (column,) for column, (domain, slot) in enumerate(states.slots)},
            JOINT: (n_slots,),
            ALL: tuple(range(n_slots)),
        },
        schedules={
            number: np.repeat(mask[:, None], n_slots + 1, axis=1) for number, mask in schedules.items()
        },
        fields=fields,
        top_score=np.ones_like(fields["correct"]),
        correct=fields["correct"].astype(bool),
        top=np.concatenate([items.predicted, identity[0][:, None]], axis=1),
        truth=np.concatenate([items.gold, identity[1][:, None]], axis=1),
    )


def _certain_fields(says_none: Bools, is_none: Bools, right: Bools) -> dict[str, Floats]:
    """Fields of distributions that put everything on one value."""
    correct = right.astype(np.float64)
    return {
        "correct": correct,
        "probability": correct,
        "reciprocal_rank": np.where(right, 1.0, np.where(is_none & ~says_none, 0.5, 0.0)),
        "l2": 2.0 * (1.0 - correct),
        "l2_binary": 2.0 * (1.0 - correct),
        "neglogp": -np.log(np.maximum(1e-4, correct)),
        "hypothesis_count": (~says_none).astype(np.float64),
        "nonempty": (~says_none).astype(np.float64),
    }
