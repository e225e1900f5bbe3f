"""Callers' acts in code: instead of a value, whether it is the right one or which of the wrong ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, joined_offsets, offsets_from_lengths, take_rows
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.mentions import SlotNames, mentions_of_acts, requested_slot
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.vocabulary import NONE, Vocabulary
from extrinsic.domain import Domain
from extrinsic.simulation.fitted.logged_values import LoggedValues
from extrinsic.simulation.utterance import NOTHING

VALUE, REQUEST, FIXED = 0, 1, 2
"""The kinds of phrases: of a value, of a fact that is asked for, and any other act, which stays as it is."""

RIGHT = 0
"""The code of what the caller means; k is the k-th place of the N-best list at which something else was, and
-k the same of a value in another slot than the caller's (a stop that was taken for a neighborhood)."""


@dataclass(frozen=True, eq=False)
class CodedActs:
    """The acts of n owners (hypotheses, or turns) as phrases; a phrase is an act with at most one value.

    offsets (n + 1,): the phrases of each owner.   kind, name (k,): the kind, and the name of the act.
    about (k,): the concept of a value, the column of a fact, or the row of a fixed act in `fixed`.
    code (k,): RIGHT, or which of the wrong ones.
    fixed: every fixed act once, each with itself as owner.
    """

    offsets: Ints
    kind: Ints
    name: Ids
    about: Ints
    code: Ints
    fixed: Acts

    @staticmethod
    def joined(parts: list[CodedActs]) -> CodedActs:
        """The concatenation of the parts, owner by owner."""
        first = np.cumsum([0, *(len(part.fixed.name) for part in parts)])
        about = [
            np.where(part.kind == FIXED, part.about + begin, part.about)
            for part, begin in zip(parts, first[:-1], strict=True)
        ]
        return CodedActs(
            joined_offsets([part.offsets for part in parts]),
            np.concatenate([part.kind for part in parts]),
            np.concatenate([part.name for part in parts]),
            np.concatenate(about),
            np.concatenate([part.code for part in parts]),
            Acts.joined([part.fixed for part in parts]),
        )

    def take(self, owners: Ints) -> CodedActs:
        offsets, rows = take_rows(self.offsets, owners)
        return CodedActs(
            offsets, self.kind[rows], self.name[rows], self.about[rows], self.code[rows], self.fixed
        )

    @property
    def owner(self) -> Ints:
        """(k,) the owner of each phrase."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def spelled_out(
    coded: CodedActs,
    values: LoggedValues,
    facts: tuple[str, ...],
    number: Ints,
    fact: Ints,
    kept: Bools,
) -> Acts:
    """The acts of coded phrases.

    number (k,): the value of each phrase of a value.   fact (k,): what each request asks for.
    kept (k,): the other phrases are not said.
    """
    words = values.vocabulary
    rows = np.flatnonzero(kept)
    kind, about = coded.kind[rows], coded.about[rows]
    fixed_offsets, fixed = take_rows(coded.fixed.pair_offsets, np.where(kind == FIXED, about, 0))
    value_offsets, value_slot, value = values.pairs(np.where(kind == VALUE, number[rows], 0))
    lengths = np.where(
        kind == FIXED, np.diff(fixed_offsets), np.where(kind == VALUE, np.diff(value_offsets), 1)
    )
    offsets = offsets_from_lengths(lengths)
    slot, said = np.zeros(offsets[-1], dtype=np.int32), np.zeros(offsets[-1], dtype=np.int32)
    row_of_pair = np.repeat(kind, lengths)
    of_fixed = np.repeat(kind == FIXED, np.diff(fixed_offsets))
    of_value = np.repeat(kind == VALUE, np.diff(value_offsets))
    slot[row_of_pair == FIXED] = coded.fixed.slot[fixed[of_fixed]]
    said[row_of_pair == FIXED] = coded.fixed.value[fixed[of_fixed]]
    slot[row_of_pair == VALUE], said[row_of_pair == VALUE] = value_slot[of_value], value[of_value]
    if facts:
        slot[row_of_pair == REQUEST] = words.id("slot")
        said[row_of_pair == REQUEST] = words.ids(facts)[fact[rows][kind == REQUEST]]
    counts = np.bincount(coded.owner[rows], minlength=len(coded.offsets) - 1)
    return Acts(offsets_from_lengths(counts), coded.name[rows], offsets, slot, said)


@dataclass(frozen=True, eq=False)
class Lists:
    """The N-best lists of n turns in code.

    offsets (n + 1,): the hypotheses of each turn, best first.   score (h,).   acts: of the hypotheses.
    """

    offsets: Ints
    score: Floats
    acts: CodedActs

    @cached_property
    def turn_of_hypothesis(self) -> Ints:
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def best_phrases(self) -> Ints:
        """The phrases of values in the best hypothesis of each list."""
        turn = self.turn_of_hypothesis
        is_best = np.arange(len(turn)) == self.offsets[turn]
        return np.flatnonzero(is_best[self.acts.owner] & (self.acts.kind == VALUE))

    def mentioned(self, n_concepts: int) -> Bools:
        """(n_turns, n_concepts) what the best hypothesis is about."""
        mentioned = np.zeros((len(self.offsets) - 1, n_concepts), dtype=bool)
        best = self.best_phrases
        mentioned[self.turn_of_hypothesis[self.acts.owner[best]], self.acts.about[best]] = True
        return mentioned

    def replies(self) -> tuple[Ids, Floats]:
        """(n_turns,) the name of the first act without a value in the best hypothesis (a yes, a no, a
        command), NONE for none; and (n_turns,) the score of the hypothesis, 0 for none."""
        replies = np.full(len(self.offsets) - 1, NONE, dtype=np.int32)
        has_list = np.diff(self.offsets) > 0
        score = np.zeros(len(replies))
        score[has_list] = self.score[self.offsets[:-1][has_list]]
        turn, phrases = self.turn_of_hypothesis, np.flatnonzero(self.acts.kind == FIXED)
        hypothesis = self.acts.owner[phrases]
        first = phrases[hypothesis == self.offsets[turn[hypothesis]]]
        # Assignment by index keeps the last.
        replies[turn[self.acts.owner[first[::-1]]]] = self.acts.name[first[::-1]]
        return replies, score

    @staticmethod
    def joined(parts: list[Lists]) -> Lists:
        return Lists(
            joined_offsets([part.offsets for part in parts]),
            np.concatenate([part.score for part in parts]),
            CodedActs.joined([part.acts for part in parts]),
        )


def code_lists(corpus: Corpus, values: LoggedValues, goal: Ints) -> Lists:
    """The N-best lists of a corpus in code (live hypotheses only), best first.

    goal (n_dialogs, n_concepts): what callers want, NOTHING for nothing.
    """
    nbest = corpus.nbest
    turn = nbest.turn_of_hypothesis()
    order = np.lexsort((-nbest.score, nbest.batch, turn))
    order = order[~nbest.batch[order]]
    turn = turn[order]
    offsets = offsets_from_lengths(np.bincount(turn, minlength=corpus.n_turns))
    place = np.arange(len(order)) - offsets[turn]
    asked = requested_slot(corpus.system, corpus.vocabulary)
    acts = nbest.acts.take(order)
    coded = _coded(corpus, values, goal, acts, turn, place, asked[turn])
    return Lists(offsets, nbest.score[order], coded)


def code_said(corpus: Corpus, values: LoggedValues, goal: Ints, said: Acts) -> CodedActs:
    """What annotators heard at every turn, in code; goal: see `code_lists`."""
    turn = np.arange(corpus.n_turns)
    asked = requested_slot(corpus.system, corpus.vocabulary)
    return _coded(corpus, values, goal, said, turn, np.zeros_like(turn), asked)


def _coded(
    corpus: Corpus, values: LoggedValues, goal: Ints, acts: Acts, turn: Ints, place: Ints, asked: Ids
) -> CodedActs:
    """Acts of owners at given turns, each owner at a place of its list."""
    domain, words = corpus.domain, corpus.vocabulary
    user = domain.user
    names = SlotNames(domain, corpus.slots, words)
    mentions = mentions_of_acts(names, acts, (*user.inform, *user.deny), asked=asked)
    number = values.number(mentions.slot, mentions.value)
    mentions, number = mentions.take(np.flatnonzero(number != NOTHING)), number[number != NOTHING]
    # What is denied is right to deny when it is wrong, but the value itself decides which one is meant.
    right = corpus.truth.is_correct(turn[mentions.owner], mentions.slot, mentions.value)
    code = np.where(right, RIGHT, _first_place(turn, place, mentions.owner, number, len(values)))
    meant = goal[corpus.dialog_of_turn[turn[mentions.owner]], values.concept[number]]
    elsewhere = (meant != NOTHING) & (values.slot[meant] != values.slot[number])
    code = np.where(elsewhere, -code, code)

    act, fact = _requests(domain, corpus.requestable, words, acts)
    wanted = np.zeros(len(act), dtype=bool)
    owner = acts.owner_of_act()
    if len(act):
        wanted = _requested(corpus)[turn[owner[act]], fact]
    is_coded = np.zeros(len(acts.name), dtype=bool)
    is_coded[mentions.act] = is_coded[act] = True
    rest = np.flatnonzero(~is_coded)
    fixed, row = _distinct_acts(acts, rest)
    of_act = np.concatenate([mentions.act, act, rest])
    kind = np.repeat([VALUE, REQUEST, FIXED], [len(mentions), len(act), len(rest)])
    order = np.lexsort((np.arange(len(of_act)), of_act))
    about = np.concatenate([values.concept[number], fact, row])
    codes = np.concatenate(
        [code, np.where(wanted, RIGHT, place[owner[act]] + 1), np.zeros(len(rest), np.int64)]
    )
    return CodedActs(
        offsets_from_lengths(np.bincount(owner[of_act], minlength=len(acts.offsets) - 1)),
        kind[order],
        acts.name[of_act[order]],
        about[order],
        codes[order],
        fixed,
    )


def _first_place(turn: Ints, place: Ints, owner: Ints, number: Ints, n_values: int) -> Ints:
    """(k,) 1 + the first place of the turn's list that has the value of each mention."""
    if not len(owner):
        return np.zeros(0, dtype=np.int64)
    keys = turn[owner] * n_values + number
    order = np.lexsort((place[owner], keys))
    distinct, first = np.unique(keys[order], return_index=True)
    earliest = place[owner][order][first]
    return np.asarray(1 + earliest[np.searchsorted(distinct, keys)])


def _requests(
    domain: Domain, requestable: tuple[str, ...], words: Vocabulary, acts: Acts
) -> tuple[Ints, Ints]:
    """(k,) the acts that ask for a fact, and which one; an act that asks for two stands twice."""
    column = {words.find(slot): number for number, slot in enumerate(requestable)}
    act = acts.act_of_pair()
    asks = np.isin(acts.name[act], words.find_all(domain.user.request))
    pairs = [pair for pair in np.flatnonzero(asks).tolist() if int(acts.value[pair]) in column]
    facts = [column[int(acts.value[pair])] for pair in pairs]
    return act[np.array(pairs, dtype=np.int64)], np.array(facts, dtype=np.int64)


def _requested(corpus: Corpus) -> Bools:
    """(n_turns, n_requestable) what the caller truly asked for at the turn."""
    requested = getattr(corpus.labels, "requested", None)
    return np.zeros((corpus.n_turns, len(corpus.requestable)), bool) if requested is None else requested


def _distinct_acts(acts: Acts, rows: Ints) -> tuple[Acts, Ints]:
    """Acts (each with itself as owner), every distinct one once, and the row of each of the given ones."""
    table: dict[tuple[int, ...], int] = {}
    number = np.empty(len(rows), dtype=np.int64)
    first: list[int] = []
    for position, act in enumerate(rows.tolist()):
        begin, end = acts.pair_offsets[act], acts.pair_offsets[act + 1]
        key = (int(acts.name[act]), *acts.slot[begin:end].tolist(), *acts.value[begin:end].tolist())
        if key not in table:
            table[key] = len(first)
            first.append(act)
        number[position] = table[key]
    chosen = np.array(first, dtype=np.int64)
    pair_offsets, pairs = take_rows(acts.pair_offsets, chosen)
    return Acts(
        np.arange(len(chosen) + 1), acts.name[chosen], pair_offsets, acts.slot[pairs], acts.value[pairs]
    ), number
