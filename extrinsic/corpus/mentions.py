"""What acts mention: slots and their values, what the system asks for, and the predicate of its turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Columns, Ids, Ints, is_among, offsets_from_lengths, row_of_each, take_rows
from extrinsic.corpus.acts import NONE, Acts, Vocabulary
from extrinsic.corpus.domain import Domain, matches, parse_pattern

UNRESOLVED = -2
"""No slot; differs from every id and from the -1 of an unknown word."""


def predicate_of_turns(domain: Domain, system: Acts, vocabulary: Vocabulary) -> Ids:
    """(n_turns,) index into domain.predicate_names of the first rule each turn meets, -1 for none."""
    predicates = np.full(len(system.offsets) - 1, -1, dtype=np.int32)
    for rule in domain.predicates:
        matching = acts_matching(rule.acts, system, vocabulary)
        if rule.slots:
            about = np.zeros(len(system.name), dtype=bool)
            about[system.act_of_pair[is_among(system.slot, vocabulary.find_all(rule.slots))]] = True
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
            about[acts.act_of_pair[pairs]] = True
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
    owner_of_pair = acts.owner_of_act[acts.act_of_pair]
    for column, names in enumerate(names_of_slots):
        mentioned[owner_of_pair[is_among(acts.slot, vocabulary.find_all(names))], column] = True
    return mentioned


def requested_names(system: Acts, vocabulary: Vocabulary) -> tuple[Ints, Ids]:
    """(k,) the acts with which the system asks for something, and the name of each thing asked for.

    DSTC2 writes the name as a value, ["slot", "food"]; DSTC1 as a slot without a value, ["from", null].
    """
    act = system.act_of_pair
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
    asked[system.owner_of_act[act]] = name[first]
    return asked


LARGEST = 2**62


class SlotNames:
    """Which slot and which part of it each name of a vocabulary stands for; groups: the slots of each."""

    def __init__(self, domain: Domain, slots: tuple[str, ...], vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.slots = slots
        # A slot's name in an act that refers to the slot just requested.
        self.this = vocabulary.find("this")
        parts_of = {slot.name: tuple(sorted(slot.parts)) for slot in domain.slots}
        self.parts = [parts_of.get(slot, ()) for slot in slots]
        # Two entries more than words: no word (-1) and no slot (UNRESOLVED, -2) denote nothing.
        self.column = np.full(len(vocabulary) + 2, -1, dtype=np.int64)
        self.part = np.full(len(vocabulary) + 2, -1, dtype=np.int64)
        for column, slot in enumerate(slots):
            self.column[vocabulary.find(slot)] = column
            for position, name in enumerate(self.parts[column] or (slot,)):
                identity = vocabulary.find(name)
                self.column[identity], self.part[identity] = column, position
        self.column[-2:] = self.part[-2:] = -1
        self.groups = {
            vocabulary.find(group): [slots.index(slot) for slot in members if slot in slots]
            for group, members in domain.groups.items()
        }
        self.compound = np.array([bool(parts) for parts in self.parts], dtype=bool)


@dataclass(frozen=True, eq=False)
class Mentions(Columns):
    """Mentions of slot values by owners (turns or hypotheses).

    owner, slot (k,): the owner, and the slot's column.   value (k,).   act (k,): the act of the mention.
    """

    owner: Ints
    slot: Ints
    value: Ids
    act: Ints

    def __len__(self) -> int:
        return len(self.owner)

    def item(self, n_slots: int) -> Ints:
        return self.owner * n_slots + self.slot

    def distinct(self, n_slots: int) -> Mentions:
        """Each (owner, slot, value) once."""
        keys = np.stack([self.item(n_slots), self.value.astype(np.int64)])
        return self.take(np.unique(keys, axis=1, return_index=True)[1])

    def answered(self, acts: Acts, turn_of_owner: Ints, answers: Bools) -> Mentions:
        """These mentions of turns, repeated by each act of `answers` (n_acts,) by an owner in that turn."""
        answering = np.flatnonzero(answers)
        owner = acts.owner_of_act[answering]
        by_turn = np.argsort(self.owner, kind="stable")
        turns = turn_of_owner[owner]
        begin = np.searchsorted(self.owner[by_turn], turns)
        lengths = np.searchsorted(self.owner[by_turn], turns, side="right") - begin
        offsets = offsets_from_lengths(lengths)
        which = row_of_each(offsets)
        said = by_turn[begin[which] + np.arange(offsets[-1]) - offsets[which]]
        return Mentions(owner[which], self.slot[said], self.value[said], answering[which])


def latest(mentions: Mentions, n_slots: int) -> Ints:
    """The last mention of each (owner, slot): a self-correction replaces what came before."""
    order = np.lexsort((mentions.act, mentions.item(n_slots)))
    item = mentions.item(n_slots)[order]
    last = np.ones(len(order), dtype=bool)
    last[:-1] = item[1:] != item[:-1]
    return np.sort(order[last])


def mentions_of_acts(
    names: SlotNames,
    acts: Acts,
    act_names: Sequence[str],
    kept: Bools | None = None,
    asked: Ids | None = None,
) -> Mentions:
    """The values that acts of these names (those `kept`) mention.

    A simple slot has one mention a pair; the parts of a compound slot make one mention an act.
    asked (n_owners,): the slot that `this` refers to, as an id of the vocabulary.
    """
    chosen = is_among(acts.name, names.vocabulary.find_all(act_names))
    which = np.flatnonzero(chosen if kept is None else chosen & kept)
    offsets, pairs = take_rows(acts.pair_offsets, which)
    act = which[row_of_each(offsets)]
    owner = acts.owner_of_act[act]
    slot = acts.slot[pairs]
    if asked is not None:
        slot = np.where(slot == names.this, asked[owner], slot)
    column = names.column[slot]
    # A request may name a compound slot as a whole; a value has to come in parts.
    is_slot = names.part[slot] >= 0
    compound = names.compound[column]
    pairs_said = Mentions(owner, column, acts.value[pairs], act)
    parts = np.flatnonzero(is_slot & compound)
    simple = pairs_said.take(np.flatnonzero(is_slot & ~compound))
    return Mentions.joined([simple, _put_together(names, pairs_said.take(parts), slot[parts])])


def _put_together(names: SlotNames, pairs: Mentions, name: Ids) -> Mentions:
    """The parts of each (act, compound slot) as one value; of a repeated part, the last counts."""
    if not len(pairs):
        return pairs
    n_slots = len(names.slots)
    items, first, item = np.unique(pairs.act * n_slots + pairs.slot, return_index=True, return_inverse=True)
    table = np.zeros((len(items), 1 + max(map(len, names.parts))), dtype=np.int64)
    table[:, 0] = items % n_slots
    table[item, 1 + names.part[name]] = pairs.value
    # One number a row, in the order of rows, where the numbers are not too large for it.
    base = len(names.vocabulary)
    if n_slots * base ** (table.shape[1] - 1) < LARGEST:
        number = table @ base ** np.arange(table.shape[1])[::-1]
        _, one_of_kind, kind = np.unique(number, return_index=True, return_inverse=True)
        kinds = table[one_of_kind]
    else:
        kinds, kind = np.unique(table, axis=0, return_inverse=True)
    compound_id = names.vocabulary.compound_id
    values = [compound_id(names.parts[column], tuple(parts)) for column, *parts in kinds.tolist()]
    whole = pairs.take(first)
    return Mentions(whole.owner, whole.slot, np.array(values, dtype=np.int32)[kind.ravel()], whole.act)
