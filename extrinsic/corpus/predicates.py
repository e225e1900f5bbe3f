"""The predicate of a system turn and the slots that it mentions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Bools, Ids
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.domain import Domain

UNRESOLVED = -2
"""No slot; differs from every id and from the -1 of an unknown word."""


def predicate_of_turns(domain: Domain, system: Acts, vocabulary: Vocabulary) -> Ids:
    """(n_turns,) index into domain.predicate_names of the first rule each turn meets, -1 for none."""
    predicates = np.full(len(system.offsets) - 1, -1, dtype=np.int32)
    for rule in domain.predicates:
        matching = np.isin(system.name, vocabulary.find_all(rule.acts))
        if rule.slots:
            about = np.zeros(len(system.name), dtype=bool)
            about[system.act_of_pair()[np.isin(system.slot, vocabulary.find_all(rule.slots))]] = True
            matching &= about
        turns = system.owners_where(matching)
        predicates[turns & (predicates < 0)] = domain.predicate_names.index(rule.name)
    return predicates


def mentioned_slots(names_of_slots: Sequence[Sequence[str]], acts: Acts, vocabulary: Vocabulary) -> Bools:
    """(n_owners, n_slots) whether a pair of the owner's acts has one of the slot's names."""
    mentioned = np.zeros((len(acts.offsets) - 1, len(names_of_slots)), dtype=bool)
    owner_of_pair = acts.owner_of_act()[acts.act_of_pair()]
    for column, names in enumerate(names_of_slots):
        mentioned[owner_of_pair[np.isin(acts.slot, vocabulary.find_all(names))], column] = True
    return mentioned


def requested_slot(system: Acts, vocabulary: Vocabulary) -> Ids:
    """(n_turns,) the slot that the system just requested, as an id of the vocabulary; UNRESOLVED for none."""
    requested = np.full(len(system.offsets) - 1, UNRESOLVED, dtype=np.int32)
    requests = (system.name == vocabulary.find("request")) & (np.diff(system.pair_offsets) > 0)
    acts = np.flatnonzero(requests)
    # Of several requests the last decides; assignment by index keeps the last.
    requested[system.owner_of_act()[acts]] = system.value[system.pair_offsets[:-1][acts]]
    return requested
