"""Values of a world's slots and which of them sound alike; what is said, by number, and as acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Columns, Floats, Ids, Ints, offsets_from_lengths
from extrinsic.corpus.acts import Acts, NBest, Value, Vocabulary
from extrinsic.corpus.domain import Domain

NOTHING = -1
"""No value: a group the caller does not care about, or the system knows nothing about."""

SILENT = 0
YES, NO = 1, 2


@dataclass(frozen=True, eq=False)
class Utterance:
    """What m callers say.

    value (m, n_groups): the value said for each group, NOTHING for none.   answer (m,): YES, NO, SILENT.
    command (m,): any other request: SILENT or the number of a command of the world.
    hangs_up (m,): ends the call.
    """

    value: Ints
    answer: Ints
    command: Ints
    hangs_up: Bools


N_NEIGHBOURS = 8
"""How many other values a value may be confused with."""


@dataclass(frozen=True, eq=False)
class Values:
    """All values of all slots, numbered slot by slot.

    slot, identity (n_values,): the slot's column, and the value's id in the vocabulary.
    begin (n_slots + 1,): the values of each slot.
    pair_offsets, pair_slot, pair_value: the pairs that acts write a value as.
    neighbour (n_values, N_NEIGHBOURS): the values it may be confused with, most similar first.
    elsewhere (n_values, 2): the same words in the other direction (from, to), and the most similar value of
    another slot of the same group; itself where there is none.
    number (n_slots, n_words): the value with a given id of the vocabulary, -1 for none.
    group (n_slots,): the group of each slot, an index into domain.groups; -1 for none.
    usual (n_values,): whether callers want it more often than other values of the slot.
    """

    domain: Domain
    vocabulary: Vocabulary
    slot: Ints
    identity: Ids
    begin: Ints
    pair_offsets: Ints
    pair_slot: Ids
    pair_value: Ids
    neighbour: Ints
    elsewhere: Ints
    number: Ints
    group: Ints
    usual: Bools

    def __len__(self) -> int:
        return len(self.slot)


def values_of_slots(domain: Domain, vocabulary: Vocabulary, lists: Sequence[Sequence[Value]]) -> Values:
    """The values of every slot, given in the domain's order."""
    slots = np.repeat(np.arange(len(lists)), [len(values) for values in lists])
    pairs = [
        list(value) if isinstance(value, tuple) else [(name, value)]
        for name, values in zip(domain.slot_names, lists, strict=True)
        for value in values
    ]
    flat = [pair for of_value in pairs for pair in of_value]
    pair_slot = vocabulary.ids([name for name, _ in flat])
    pair_value = vocabulary.ids([value for _, value in flat])
    identity = vocabulary.ids([value for values in lists for value in values])
    begin = offsets_from_lengths([len(values) for values in lists])
    number = np.full((len(lists), len(vocabulary)), -1, dtype=np.int64)
    number[slots, identity] = np.arange(len(slots))
    groups = list(domain.groups.values())
    group = [
        next((i for i, of_group in enumerate(groups) if slot in of_group), -1) for slot in domain.slot_names
    ]
    return Values(
        domain=domain,
        vocabulary=vocabulary,
        slot=slots,
        identity=identity,
        begin=begin,
        pair_offsets=offsets_from_lengths(list(map(len, pairs))),
        pair_slot=pair_slot,
        pair_value=pair_value,
        neighbour=np.concatenate(
            [first + _neighbours(of_slot) for first, of_slot in zip(begin, lists, strict=False)]
        ),
        elsewhere=np.tile(np.arange(len(slots))[:, None], (1, 2)),
        number=number,
        group=np.array(group),
        usual=np.zeros(len(slots), dtype=bool),
    )


def _neighbours(values: Sequence[Value]) -> Ints:
    """(n, N_NEIGHBOURS) the other values, most similar first; of few values, the same ones again."""
    alike = likeness(values, values)
    np.fill_diagonal(alike, -1.0)
    others = np.argsort(-alike, axis=1, kind="stable")[:, : max(len(values) - 1, 1)]
    return others[:, np.arange(N_NEIGHBOURS) % others.shape[1]]


def likeness(first: Sequence[Value], second: Sequence[Value]) -> np.ndarray:
    """(n_first, n_second) share of common letter pairs (Dice): a crude but deterministic similarity."""
    texts = [
        " ".join(part for _, part in value) if isinstance(value, tuple) else value
        for value in (*first, *second)
    ]
    pairs = [{f" {text} "[i : i + 2] for i in range(len(text) + 1)} for text in texts]
    index = {pair: i for i, pair in enumerate(sorted(set().union(*pairs)))}
    table = np.zeros((len(texts), len(index)))
    for row, of_text in enumerate(pairs):
        table[row, [index[pair] for pair in of_text]] = 1.0
    sizes = table.sum(axis=1)
    left, right = table[: len(first)], table[len(first) :]
    # Counts are whole numbers: the product is exact, whatever order it is added in.
    return np.asarray(2.0 * (left @ right.T) / (sizes[: len(first), None] + sizes[len(first) :]))


@dataclass(frozen=True, eq=False)
class Lists:
    """N-best lists of m turns: content (m, longest, n_codes), score (m, longest), 0 where there is none.

    A code is the number of a value; or n_values + YES, n_values + NO; or n_values + NO + a command.
    """

    content: Ints
    score: Floats


Phrase = tuple[str, Sequence[tuple[str, str | None]]]
"""The name of an act and its (slot, value) pairs."""


@dataclass(frozen=True, eq=False)
class Phrases(Columns):
    """k acts: name (k,), their pairs: pair_offsets (k + 1,), slot and value."""

    name: Ids
    pair_offsets: Ints
    slot: Ids
    value: Ids

    @staticmethod
    def of(vocabulary: Vocabulary, phrases: Sequence[Phrase]) -> Phrases:
        pairs = [pair for _, of_phrase in phrases for pair in of_phrase]
        return Phrases(
            vocabulary.ids([name for name, _ in phrases]),
            offsets_from_lengths([len(of_phrase) for _, of_phrase in phrases]),
            vocabulary.ids([slot for slot, _ in pairs]),
            vocabulary.ids([value for _, value in pairs]),
        )

    @staticmethod
    def of_values(values: Values, act: str) -> Phrases:
        """An act of this name for every value."""
        name = np.full(len(values), values.vocabulary.id(act), dtype=np.int32)
        return Phrases(name, values.pair_offsets, values.pair_slot, values.pair_value)

    @staticmethod
    def of_callers(values: Values, commands: Sequence[Phrase]) -> Phrases:
        """What callers say, by the recogniser's codes: values, yes, no, then the commands of the world."""
        answers: list[Phrase] = [("null", ()), ("affirm", ()), ("negate", ())]
        others = Phrases.of(values.vocabulary, [*answers, *commands])
        return Phrases.joined([Phrases.of_values(values, "inform"), others])

    def acts(self, n_owners: int, owner: Ints, phrase: Ints) -> Acts:
        """The acts of n owners; owner (m,), ascending, and phrase (m,): who says what."""
        said = self.take(phrase)
        offsets = offsets_from_lengths(np.bincount(owner, minlength=n_owners))
        return Acts(offsets, said.name, said.pair_offsets, said.slot, said.value)

    def nbest(self, lists: Lists) -> NBest:
        """N-best lists as acts."""
        present = lists.score > 0.0
        content = lists.content[present]
        return NBest(
            offsets_from_lengths(present.sum(axis=1)),
            lists.score[present],
            np.zeros(len(content), dtype=bool),
            self._of_codes(content),
        )

    def said(self, values: Values, utterance: Utterance) -> Acts:
        """What was truly said."""
        answer = np.where(utterance.answer == SILENT, NOTHING, len(values) + utterance.answer)
        command = np.where(utterance.command == SILENT, NOTHING, len(values) + NO + utterance.command)
        return self._of_codes(np.column_stack([utterance.value, answer, command]))

    def _of_codes(self, content: Ints) -> Acts:
        """(n, k) phrases of each owner, NOTHING for none."""
        owner, position = np.nonzero(content != NOTHING)
        return self.acts(len(content), owner, content[owner, position])


@dataclass(frozen=True, eq=False)
class Repertoire:
    """All that a system can say, kind by kind; first: the number of each kind's first phrase."""

    phrases: Phrases
    first: dict[str, int]

    @staticmethod
    def of(kinds: Mapping[str, Phrases]) -> Repertoire:
        begins = np.cumsum([0, *(len(phrases.name) for phrases in kinds.values())]).tolist()
        return Repertoire(Phrases.joined(list(kinds.values())), dict(zip(kinds, begins, strict=False)))

    def acts(self, n_turns: int, said: Sequence[tuple[str, Ints, Ints | int]]) -> Acts:
        """The acts of n turns.

        said: a kind of phrase, the turns in which it is said, and which phrase of the kind; in the order of
        speaking.
        """
        owner = np.concatenate([turns for _, turns, _ in said])
        phrase = np.concatenate(
            [np.broadcast_to(self.first[kind] + number, turns.shape) for kind, turns, number in said]
        )
        order = np.argsort(owner, kind="stable")
        return self.phrases.acts(n_turns, owner[order], phrase[order])
