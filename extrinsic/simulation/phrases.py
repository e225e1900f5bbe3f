"""Acts by number: what callers and systems of a world can say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Ids, Ints, offsets_from_lengths, take_rows
from extrinsic.corpus.acts import Acts, NBest
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.simulation.ontology import Values
from extrinsic.simulation.recogniser import Lists
from extrinsic.simulation.utterance import NO, NOTHING, SILENT, Utterance

Phrase = tuple[str, Sequence[tuple[str, str]]]
"""The name of an act and its (slot, value) pairs."""


@dataclass(frozen=True, eq=False)
class Phrases:
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
    def of_callers(values: Values, commands: Sequence[Phrase]) -> Phrases:
        """What callers say, by the recogniser's codes: values, yes, no, then the commands of the world."""
        others = Phrases.of(values.vocabulary, [("null", ()), ("affirm", ()), ("negate", ()), *commands])
        informs = np.full(len(values), values.vocabulary.id("inform"), dtype=np.int32)
        return Phrases(
            np.concatenate([informs, others.name]),
            np.concatenate([values.pair_offsets, values.pair_offsets[-1] + others.pair_offsets[1:]]),
            np.concatenate([values.pair_slot, others.slot]),
            np.concatenate([values.pair_value, others.value]),
        )

    def acts(self, n_owners: int, owner: Ints, phrase: Ints) -> Acts:
        """The acts of n owners; owner (m,), ascending, and phrase (m,): who says what."""
        offsets, pairs = take_rows(self.pair_offsets, phrase)
        return Acts(
            offsets_from_lengths(np.bincount(owner, minlength=n_owners)),
            self.name[phrase],
            offsets,
            self.slot[pairs],
            self.value[pairs],
        )

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
