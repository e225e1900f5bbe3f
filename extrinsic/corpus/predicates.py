"""The predicate of a system turn and the slots that it mentions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints, is_among
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.vocabulary import NONE, Vocabulary
from extrinsic.domain import Domain, matches, parse_pattern

UNRESOLVED = -2
"""No slot; differs from every id and from the -1 of an unknown word."""


def predicate_of_turns(domain: Domain, system: Acts, vocabulary: Vocabulary) -> Ids:
    """(n_turns,) index into domain.predicate_names of the first rule each turn meets, -1 for none."""
    predicates = np.full(len(system.offsets) - 1, -1, dtype=np.int32)
    for rule in domain.predicates:
        matching = acts_matching(rule.acts, system, vocabulary)
        if rule.slots:
            about = np.zeros(len(system.name), dtype=bool)
            about[system.act_of_pair()[is_among(system.slot, vocabulary.find_all(rule.slots))]] = True
            matching &= about
        turns = system.owners_where(matching)
        for pattern in rule.together_with:
            turns &= turns_with((pattern,), system, vocabulary)
        if rule.without:
            turns &= ~turns_with(rule.without, system, vocabulary)
        predicates[turns & (predicates < 0)] = domain.predicate_names.index(rule.name)
    return predicates


def turns_with(patterns: Sequence[str], system: Acts, vocabulary: Vocabulary) -> Bools:
    """(n_turns,) whether a turn has an act of one of the patterns."""
    return system.owners_where(acts_matching(patterns, system, vocabulary))


def acts_matching(patterns: Sequence[str], acts: Acts, vocabulary: Vocabulary) -> Bools:
    """(n_acts,) whether an act matches one of the patterns, such as `canthelp.*` or `inform(addr)`."""
    parsed = [parse_pattern(pattern) for pattern in patterns]
    plain = [pattern.act for pattern in parsed if pattern.is_plain]
    matching = is_among(acts.name, vocabulary.find_all(plain))
    for pattern in parsed:
        if pattern.is_plain:
            continue
        named = _is_text(pattern.act, acts.name, vocabulary)
        if pattern.slot is not None:
            pairs = _is_text(pattern.slot, acts.slot, vocabulary)
            if pattern.value is not None:
                pairs &= _is_text(pattern.value, acts.value, vocabulary)
            about = np.zeros(len(acts.name), dtype=bool)
            about[acts.act_of_pair()[pairs]] = True
            named &= about
        matching |= named
    return matching


def _is_text(pattern: str, ids: Ids, vocabulary: Vocabulary) -> Bools:
    """(n,) whether an id of the vocabulary stands for a text that matches."""
    if not pattern.endswith("*"):
        return np.asarray(ids == vocabulary.find(pattern))
    distinct = np.unique(ids)
    matching = [matches(pattern, vocabulary.text(int(identity))) for identity in distinct]
    return np.isin(ids, distinct[matching])


def mentioned_slots(names_of_slots: Sequence[Sequence[str]], acts: Acts, vocabulary: Vocabulary) -> Bools:
    """(n_owners, n_slots) whether a pair of the owner's acts has one of the slot's names."""
    mentioned = np.zeros((len(acts.offsets) - 1, len(names_of_slots)), dtype=bool)
    owner_of_pair = acts.owner_of_act()[acts.act_of_pair()]
    for column, names in enumerate(names_of_slots):
        mentioned[owner_of_pair[is_among(acts.slot, vocabulary.find_all(names))], column] = True
    return mentioned


def requested_names(system: Acts, vocabulary: Vocabulary) -> tuple[Ints, Ids]:
    """(k,) the acts with which the system asks for something, and the name of each thing asked for.

    DSTC2 writes the name as a value, ["slot", "food"]; DSTC1 as a slot without a value, ["from", null].
    """
    act = system.act_of_pair()
    pairs = np.flatnonzero(system.name[act] == vocabulary.find("request"))
    is_value = system.slot[pairs] == vocabulary.find("slot")
    is_slot = ~is_value & (system.value[pairs] == NONE)
    name = np.where(is_value, system.value[pairs], system.slot[pairs])
    kept = is_value | is_slot
    return act[pairs][kept], name[kept].astype(np.int32)


def requested_slot(system: Acts, vocabulary: Vocabulary) -> Ids:
    """(n_turns,) the slot the system just asked for, as an id of the vocabulary; UNRESOLVED for none."""
    asked = np.full(len(system.offsets) - 1, UNRESOLVED, dtype=np.int32)
    act, name = requested_names(system, vocabulary)
    # Of the slots that one question names, the first; of several questions the last, as assignment keeps it.
    act, first = np.unique(act, return_index=True)
    asked[system.owner_of_act()[act]] = name[first]
    return asked
