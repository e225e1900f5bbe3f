"""State sets with their values made alike by a named normalisation, and dontcare kept or dropped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from extrinsic.arrays import Ids
from extrinsic.corpus.normalisations import DONTCARE, Normalisation, load_normalisation
from extrinsic.corpus.state_sets import ABSENT, GIVEN_NONE, StateReading, StateSets
from extrinsic.errors import Problem
from extrinsic.storage import content_hash

SPELLINGS = frozenset({DONTCARE, "dont care", "don't care", "do n't care", "do not care"})
"""Of dontcare, where no normalisation was chosen."""


def normalise_states(states: StateSets, reading: StateReading) -> StateSets:
    """The states as chosen: values normalised on both sides, dontcare kept or dropped."""
    if reading.normalise is None and reading.dontcare in (None, "keep"):
        return states
    rule = None if reading.normalise is None else load_normalisation(reading.normalise)
    slots, column = _columns(states, rule)
    clashes: list[int] = []
    sides = []
    for table in (states.gold, states.predicted):
        changed = np.zeros((len(table), len(slots)), dtype=np.int32)
        for number, (domain, _) in enumerate(states.slots):
            ids = _normalised(states, table[:, number], domain.lower(), slots[column[number]][1], rule)
            taken = (changed[:, column[number]] > GIVEN_NONE) & (ids > GIVEN_NONE)
            clashes.append(int((taken & (changed[:, column[number]] != ids)).sum()))
            changed[:, column[number]] = np.where(
                ids > changed[:, column[number]], ids, changed[:, column[number]]
            )
        sides.append(changed)
    gold, predicted = sides
    n_changed = _n_changed(states, states.predicted, predicted, slots, column)
    for side, choices in ((gold, ("drop", "drop_gold")), (predicted, ("drop",))):
        if reading.dontcare in choices:
            side[np.isin(side, states.vocabulary.find_all(SPELLINGS))] = ABSENT
    notes = list(states.problems)
    if sum(clashes):
        text = f"{sum(clashes):,} values are of slots with one name after normalising: one of two is kept"
        notes.append(Problem(text, severity="note"))
    rules = reading.value_rules
    return replace(
        states,
        slots=slots,
        gold=gold,
        predicted=predicted,
        in_gold=np.asarray((gold > GIVEN_NONE).any(axis=0)),
        problems=tuple(notes),
        signature=content_hash(states.signature, rules),
        value_rules=rules,
        n_values_changed=states.n_values_changed + n_changed,
    )


def _columns(states: StateSets, rule: Normalisation | None) -> tuple[tuple[tuple[str, str], ...], list[int]]:
    """The slots under their new names, sorted, and which of them each old one is."""
    names = [(domain.lower(), rule.slot(slot)) if rule else (domain, slot) for domain, slot in states.slots]
    slots = tuple(sorted(set(names)))
    return slots, [slots.index(name) for name in names]


def _normalised(states: StateSets, ids: Ids, domain: str, slot: str, rule: Normalisation | None) -> Ids:
    if rule is None:
        return ids
    old, position = np.unique(ids, return_inverse=True)
    new = [
        states.vocabulary.id(rule.value(domain, slot, str(states.value(identity))))
        if identity > GIVEN_NONE
        else identity
        for identity in old.tolist()
    ]
    empty = states.vocabulary.id("")
    return np.array([ABSENT if identity == empty else identity for identity in new], dtype=np.int32)[position]


def _n_changed(
    states: StateSets, before: Ids, after: Ids, slots: tuple[tuple[str, str], ...], column: list[int]
) -> int:
    """How many predicted values are other ones now; another name of a slot is no other value."""
    moved = np.zeros_like(after)
    for number, target in enumerate(column):
        moved[:, target] = np.maximum(moved[:, target], before[:, number])
    return int((moved != after).sum())
