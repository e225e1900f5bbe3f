"""The evidence of recogniser hypotheses and system acts about each value, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, offsets_from_lengths, take_rows
from extrinsic.corpus.acts import Acts
from extrinsic.corpus.mentions import Mentions, SlotNames, latest, mentions_of_acts
from extrinsic.corpus.nbest import NBest
from extrinsic.corpus.predicates import requested_slot
from extrinsic.corpus.vocabulary import Vocabulary
from extrinsic.domain import Domain


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence of n turns. An item is a (turn, slot), turn-major; a row is a value mentioned in one.

    offsets (n * n_slots + 1,): the rows of each item, in order of first appearance.   value (r,).
    informed (r,): summed score of the hypotheses that inform the value, or affirm its confirmation.
    affirmed (r,): the part of it that affirms.   top (r,): the part of it from the best hypothesis.
    denied (r,): summed score of those that deny the value, or negate its confirmation.
    rejected (r,): the part of it from hypotheses that inform no value of the slot instead.
    rank (r,): position of the first hypothesis that informs it; -1: none does.
    explicit, implicit (r,): the system just confirmed it explicitly or implicitly.
    requested (n, n_slots): the system just asked for the slot.
    affirms, negates (n,): summed score of yes and of no.   restart (n,): the system started over.
    """

    n_slots: int
    offsets: Ints
    value: Ids
    informed: Floats
    affirmed: Floats
    top: Floats
    denied: Floats
    rejected: Floats
    rank: Ints
    explicit: Bools
    implicit: Bools
    requested: Bools
    affirms: Floats
    negates: Floats
    restart: Bools

    @property
    def n_turns(self) -> int:
        return len(self.restart)

    def take(self, turns: Ints) -> Evidence:
        """The chosen turns, in the order given."""
        items = (turns[:, None] * self.n_slots + np.arange(self.n_slots)).ravel()
        offsets, rows = take_rows(self.offsets, items)
        return Evidence(
            self.n_slots,
            offsets,
            self.value[rows],
            self.informed[rows],
            self.affirmed[rows],
            self.top[rows],
            self.denied[rows],
            self.rejected[rows],
            self.rank[rows],
            self.explicit[rows],
            self.implicit[rows],
            self.requested[turns],
            self.affirms[turns],
            self.negates[turns],
            self.restart[turns],
        )


def gather_evidence(
    domain: Domain, slots: tuple[str, ...], vocabulary: Vocabulary, system: Acts, nbest: NBest, restart: Bools
) -> Evidence:
    """Evidence of the turns that these acts and N-best lists (live ones only) belong to."""
    names = SlotNames(domain, slots, vocabulary)
    n_turns, n_slots = len(restart), len(slots)
    requested_slots = requested_slot(system, vocabulary)
    explicit = mentions_of_acts(names, system, "expl-conf")
    implicit = mentions_of_acts(names, system, "impl-conf")

    turn_of = nbest.turn_of_hypothesis()
    live = ~nbest.batch
    rank = _ranks(nbest)
    informed, affirmed, denied = _claims(names, nbest, live, requested_slots[turn_of], explicit, implicit)
    last = latest(informed, n_slots)
    informed, affirmed = informed.take(last), affirmed[last]
    instead = np.isin(denied.item(n_slots), informed.item(n_slots))

    # One row for every (turn, slot, value) that was mentioned, hypotheses first and best first.
    by_rank = np.lexsort((rank[informed.owner], turn_of[informed.owner]))
    informed, affirmed = informed.take(by_rank), affirmed[by_rank]
    owner = np.concatenate([turn_of[informed.owner], turn_of[denied.owner], explicit.owner, implicit.owner])
    item = owner * n_slots + np.concatenate([part.slot for part in (informed, denied, explicit, implicit)])
    value = np.concatenate([part.value for part in (informed, denied, explicit, implicit)])
    keys = item * np.int64(len(vocabulary)) + value
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    order = np.lexsort((first, item[first]))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    row = position[row]
    of_informed, of_denied, of_explicit, of_implicit = np.split(
        row, np.cumsum([len(informed), len(denied), len(explicit)])
    )
    score = nbest.score[informed.owner]
    n_rows = len(order)
    best = np.full(n_rows, -1, dtype=np.int64)
    best[of_informed[::-1]] = rank[informed.owner][::-1]

    def total(rows: Ints, weights: Floats, length: int = n_rows) -> Floats:
        return np.bincount(rows, weights, length).astype(np.float64, copy=False)

    def flagged(rows: Ints) -> Bools:
        return np.bincount(rows, minlength=n_rows) > 0

    yes, no = (_said(nbest, vocabulary, live, act) for act in ("affirm", "negate"))
    return Evidence(
        n_slots=n_slots,
        offsets=offsets_from_lengths(np.bincount(item[first], minlength=n_turns * n_slots)),
        value=value[first][order].astype(np.int32),
        informed=total(of_informed, score),
        affirmed=total(of_informed, score * affirmed),
        top=total(of_informed, score * (rank[informed.owner] == 0)),
        denied=total(of_denied, nbest.score[denied.owner]),
        rejected=total(of_denied, nbest.score[denied.owner] * ~instead),
        rank=best,
        explicit=flagged(of_explicit),
        implicit=flagged(of_implicit),
        requested=_requested(names, system),
        affirms=total(turn_of, nbest.score * yes, n_turns),
        negates=total(turn_of, nbest.score * no, n_turns),
        restart=restart,
    )


def _claims(
    names: SlotNames, nbest: NBest, live: Bools, requested_slots: Ids, explicit: Mentions, implicit: Mentions
) -> tuple[Mentions, Bools, Mentions]:
    """The values that hypotheses inform, those informed by a yes, and those they deny.

    A yes or no is about what the system just confirmed explicitly, if that was one thing. Without an
    explicit confirmation, a no is about what it confirmed implicitly.
    """
    turn_of = nbest.turn_of_hypothesis()
    n_turns = len(nbest.offsets) - 1
    n_explicit = np.bincount(explicit.owner, minlength=n_turns)
    single = explicit.take(np.flatnonzero(n_explicit[explicit.owner] == 1))
    doubtful = implicit.take(np.flatnonzero(n_explicit[implicit.owner] == 0))
    kept = live[nbest.acts.owner_of_act()]
    informed = mentions_of_acts(names, nbest.acts, "inform", kept, requested_slots)
    affirmed = single.answered(nbest.acts, turn_of, names.vocabulary.find("affirm"), kept)
    negate = names.vocabulary.find("negate")
    denied = Mentions.joined(
        mentions_of_acts(names, nbest.acts, "deny", kept, requested_slots),
        single.answered(nbest.acts, turn_of, negate, kept),
        doubtful.answered(nbest.acts, turn_of, negate, kept),
    )
    by_yes = np.repeat([False, True], [len(informed), len(affirmed)])
    return Mentions.joined(informed, affirmed), by_yes, denied.distinct(len(names.slots))


def _requested(names: SlotNames, system: Acts) -> Bools:
    """(n_turns, n_slots) whether the system requests the slot; a request may name alternative slots or a
    part of a slot."""
    requested = np.zeros((len(system.offsets) - 1, len(names.slots)), dtype=bool)
    act = system.act_of_pair()
    pairs = np.flatnonzero(system.name[act] == names.vocabulary.find("request"))
    turn, named = system.owner_of_act()[act[pairs]], system.value[pairs]
    column = names.column[named]
    requested[turn[column >= 0], column[column >= 0]] = True
    return requested


def _ranks(nbest: NBest) -> Ints:
    """(h,) the position of each hypothesis in its list by descending score, equals in the order given.

    Batch hypotheses come after all live ones, where they do not interfere.
    """
    turn = nbest.turn_of_hypothesis()
    order = np.lexsort((-nbest.score, nbest.batch, turn))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order)) - nbest.offsets[turn]
    return ranks


def _said(nbest: NBest, vocabulary: Vocabulary, live: Bools, act: str) -> Bools:
    """(h,) whether a live hypothesis contains the act."""
    return live & nbest.acts.owners_where(nbest.acts.name == vocabulary.find(act))
