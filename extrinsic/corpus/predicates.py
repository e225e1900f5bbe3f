"""What a system turn does (its predicate) and which slots it speaks of."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Ids
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.domain import Domain


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


def mentioned_slots(slots: tuple[str, ...], system: Acts, vocabulary: Vocabulary) -> Bools:
    """(n_turns, n_slots) whether a pair of the turn names the slot or a part (`date.day` of `date`)."""
    mentioned = np.zeros((len(system.offsets) - 1, len(slots)), dtype=bool)
    turn_of_pair = system.owner_of_act()[system.act_of_pair()]
    names = np.unique(system.slot)
    for position, slot in enumerate(slots):
        parts = [name for name in names if vocabulary.text(int(name)).startswith(slot)]
        mentioned[turn_of_pair[np.isin(system.slot, parts)], position] = True
    return mentioned
