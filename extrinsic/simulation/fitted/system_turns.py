"""What a system said, read from its acts: what it asked for, confirmed, offered and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Ids, Ints
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.mentions import Mentions, SlotNames, mentions_of_acts, turns_with
from extrinsic.corpus.model import Corpus
from extrinsic.domain import Domain
from extrinsic.simulation.fitted.logged_values import LoggedValues
from extrinsic.simulation.utterance import NOTHING

EXPLICIT, IMPLICIT = "expl-conf", "impl-conf"
"""The acts that confirm a value, as in DSTC's logs."""


@dataclass(frozen=True, eq=False)
class SystemTurns:
    """What the system says to m callers; NOTHING where it says no such thing.

    predicate (m,).   asked (m,): the concept asked for.   explicit, implicit (m,): the value confirmed.
    offers (m,): it presents a result.   refuses (m,): it says that there is none.
    offered (m, n_concepts): the values that the result is for.   tells (m, n_requestable): the facts told.
    """

    predicate: Ints
    asked: Ints
    explicit: Ints
    implicit: Ints
    offers: Bools
    refuses: Bools
    offered: Ints
    tells: Bools

    @staticmethod
    def joined(parts: Sequence[SystemTurns]) -> SystemTurns:
        names = SystemTurns.__dataclass_fields__
        return SystemTurns(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def take(self, rows: Ints | Bools) -> SystemTurns:
        return SystemTurns(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def search_keys(offered: Ints) -> Ints:
    """(m,) a number for each search (m, n_concepts), the same for the same values."""
    key = np.zeros(len(offered), dtype=np.int64)
    for column in offered.T:
        key = key * np.int64(1_000_003) + column + 2
    return key


@dataclass(frozen=True, eq=False)
class Claims:
    """Which of the system's claims were wrong.

    explicit, implicit (m,): the value confirmed.   offered (m, n_concepts): what the result was for.
    """

    explicit: Bools
    implicit: Bools
    offered: Bools

    def take(self, rows: Ints | Bools) -> Claims:
        return Claims(self.explicit[rows], self.implicit[rows], self.offered[rows])


def claims_of(
    required: Bools,
    said: SystemTurns,
    wanted: Bools,
    indifferent: Bools,
    right: RightValues,
    minded: Bools,
) -> Claims:
    """Judge what the system said to m callers.

    required (n_concepts,): without which an offer is no use.   wanted, indifferent (m, n_concepts): to whom
    a concept matters, and for whom any value of it will do.
    minded (m, n_concepts): what a caller minds about an offer that leaves out what is wanted, or narrows down
    what is of no matter.
    """
    named = said.offered != NOTHING
    wrong = named & ~indifferent & ~right.of_offers(said.offered)
    doubtful = minded & np.where(named, indifferent, ~indifferent & said.offers[:, None])
    return Claims(
        explicit=(said.explicit != NOTHING) & ~right.of(said.explicit),
        implicit=(said.implicit != NOTHING) & ~right.of(said.implicit),
        offered=(wrong | ~named & required | doubtful) & wanted & (said.offers | said.refuses)[:, None],
    )


class RightValues:
    """Which values m callers want: by their goals (m, n_concepts), where none is NOTHING."""

    def __init__(self, values: LoggedValues, goal: Ints) -> None:
        self.values, self.goal = values, goal

    def of(self, number: Ints) -> Bools:
        """(m,) whether the value is the one that the caller wants."""
        concept = self.values.concept[number]
        return np.asarray(np.take_along_axis(self.goal, concept[:, None], axis=1)[:, 0] == number)

    def of_offers(self, offered: Ints) -> Bools:
        """(m, n_concepts) whether these values are the ones that the caller wants."""
        return np.asarray(offered == self.goal)


class LabelledValues(RightValues):
    """Which values are right at given turns (m,) of a corpus, by its labels."""

    def __init__(self, values: LoggedValues, corpus: Corpus, turn: Ints) -> None:
        self.values, self.corpus, self.turn = values, corpus, turn

    def of(self, number: Ints) -> Bools:
        slot, identity = self.values.slot[number], self.values.identity[number]
        return np.asarray(self.corpus.truth.is_correct(self.turn, slot, identity) & (number != NOTHING))

    def of_offers(self, offered: Ints) -> Bools:
        columns = [self.of(offered[:, concept]) for concept in range(offered.shape[1])]
        return np.stack(columns, axis=1)


@dataclass(frozen=True, eq=False)
class SystemMentions:
    """The values in the system's acts: those confirmed explicitly and implicitly, and those of offers."""

    explicit: Mentions
    implicit: Mentions
    offered: Mentions


def system_mentions(corpus: Corpus) -> SystemMentions:
    """The values that the system mentions, turn by turn."""
    domain, words = corpus.domain, corpus.vocabulary
    names = SlotNames(domain, corpus.slots, words)
    others = [words.text(int(name)) for name in np.unique(corpus.system.name)]
    others = [name for name in others if name not in (EXPLICIT, IMPLICIT, "request")]
    return SystemMentions(
        explicit=mentions_of_acts(names, corpus.system, (EXPLICIT,)),
        implicit=mentions_of_acts(names, corpus.system, (IMPLICIT,)),
        offered=mentions_of_acts(names, plain_offers(domain, corpus), others, _of_offers(corpus)),
    )


def plain_offers(domain: Domain, corpus: Corpus) -> Acts:
    """The system's acts with the names of slots as elsewhere: of `result.route`, `route`."""
    acts, words = corpus.system, corpus.vocabulary
    if not domain.offered_as:
        return acts
    distinct = np.unique(acts.slot)
    texts = [words.text(int(word)) for word in distinct]
    # A name that nothing else has stands for no slot, and is found as -1.
    plain = np.array([words.find(text.removeprefix(domain.offered_as)) for text in texts], dtype=np.int32)
    slot: Ids = plain[np.searchsorted(distinct, acts.slot)]
    return Acts(acts.offsets, acts.name, acts.pair_offsets, slot, acts.value)


def _of_offers(corpus: Corpus) -> Bools:
    """(n_acts,) whether an act belongs to a turn that presents a result, or says that there is none."""
    shown = offers_and_refusals(corpus)
    return np.asarray((shown[0] | shown[1])[corpus.system.owner_of_act()])


def offers_and_refusals(corpus: Corpus) -> tuple[Bools, Bools]:
    """(n_turns,) whether the system presents a result, and whether it says that there is none."""
    domain = corpus.domain
    presents = np.isin(corpus.predicate, [domain.predicate_names.index(name) for name in domain.offer])
    refuses = turns_with(domain.refusal, corpus.system, corpus.vocabulary)
    return presents & ~refuses, refuses


def read_system_turns(corpus: Corpus, values: LoggedValues, mentions: SystemMentions) -> SystemTurns:
    """What the system said at every turn of a corpus.

    An offer names what it found, also what nobody asked for: only values that were heard before in the
    dialog count as those that it is for.
    """
    offers, refuses = offers_and_refusals(corpus)
    requested = corpus.evidence.requested
    asked_slot = np.where(requested.any(axis=1), requested.argmax(axis=1), NOTHING)
    offered = np.full((corpus.n_turns, values.n_concepts), NOTHING, dtype=np.int64)
    number = values.number(mentions.offered.slot, mentions.offered.value)
    heard = _heard_before(corpus, values, mentions.offered.owner, number)
    owner, number = mentions.offered.owner[heard], number[heard]
    offered[owner, values.concept[number]] = number
    return SystemTurns(
        predicate=corpus.predicate.astype(np.int64),
        asked=np.where(asked_slot == NOTHING, NOTHING, values.concept_of_slot[asked_slot]),
        explicit=_first(corpus.n_turns, values, mentions.explicit),
        implicit=_first(corpus.n_turns, values, mentions.implicit),
        offers=offers,
        refuses=refuses,
        offered=offered,
        tells=_told(corpus, offers),
    )


def _first(n_turns: int, values: LoggedValues, mentions: Mentions) -> Ints:
    """(n_turns,) the first value mentioned."""
    first = np.full(n_turns, NOTHING, dtype=np.int64)
    # Assignment by index keeps the last.
    number = values.number(mentions.slot, mentions.value)
    first[mentions.owner[::-1]] = number[::-1]
    return first


def _heard_before(corpus: Corpus, values: LoggedValues, turn: Ints, number: Ints) -> Bools:
    """Elementwise: whether a value stood in an N-best list of the dialog before the turn."""
    evidence = corpus.evidence
    item = np.repeat(np.arange(len(evidence.offsets) - 1), np.diff(evidence.offsets))
    heard = evidence.rank >= 0
    said_in, slot = item[heard] // evidence.n_slots, item[heard] % evidence.n_slots
    keys = corpus.dialog_of_turn[said_in] * (len(values) + 1) + values.number(slot, evidence.value[heard])
    order = np.lexsort((said_in, keys))
    keys, said_in = keys[order], said_in[order]
    wanted = corpus.dialog_of_turn[turn] * (len(values) + 1) + number
    position = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(len(turn), dtype=bool)
    return np.asarray((keys[position] == wanted) & (said_in[position] < turn) & (number != NOTHING))


def _told(corpus: Corpus, offers: Bools) -> Bools:
    """(n_turns, n_requestable) whether the system tells the fact; an offer tells all that it names."""
    words, acts = corpus.vocabulary, corpus.system
    told = np.zeros((corpus.n_turns, len(corpus.requestable)), dtype=bool)
    name, turn = acts.name[acts.act_of_pair()], acts.owner_of_act()[acts.act_of_pair()]
    tells = name == words.find("inform")
    tells |= offers[turn] & ~np.isin(name, words.find_all([EXPLICIT, IMPLICIT, "request"]))
    for column, slot in enumerate(corpus.requestable):
        told[turn[tells & (acts.slot == words.find(slot))], column] = True
    return told
