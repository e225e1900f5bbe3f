"""The evidence of recogniser hypotheses and system acts about each value, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints, is_among, offsets_from_lengths, take_rows
from extrinsic.corpus.acts import Acts, NBest, Vocabulary
from extrinsic.corpus.domain import Domain
from extrinsic.corpus.mentions import (
    Mentions,
    SlotNames,
    acts_matching,
    latest,
    mentions_of_acts,
    requested_names,
    requested_slot,
)

OF_ROWS = ("value", "informed", "affirmed", "top", "denied", "rejected", "rank", "explicit", "implicit")
"""The columns of Evidence with an entry for each row."""


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
    affirms, negates (n,): summed score of yes, and of no or undo.   restart (n,): the system began anew.
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
        return self.taken(turns)[0]

    def taken(self, turns: Ints) -> tuple[Evidence, Ints]:
        """The chosen turns, in the order given, and which rows of this one they have."""
        return self.taken_items(turns, np.broadcast_to(np.arange(self.n_slots), (len(turns), self.n_slots)))

    def taken_items(self, turns: Ints, slots: Ints) -> tuple[Evidence, Ints]:
        """At each of the chosen turns (k,) the chosen slots (k, n), and which rows of this one they have."""
        offsets, rows = take_rows(self.offsets, (turns[:, None] * self.n_slots + slots).ravel())
        chosen = replace(
            self,
            n_slots=slots.shape[1],
            offsets=offsets,
            requested=self.requested[turns[:, None], slots],
            **{name: getattr(self, name)[rows] for name in OF_ROWS},
            **{name: getattr(self, name)[turns] for name in ("affirms", "negates", "restart")},
        )
        return chosen, rows


def gather_evidence(
    domain: Domain, slots: tuple[str, ...], vocabulary: Vocabulary, system: Acts, nbest: NBest, restart: Bools
) -> Evidence:
    """Evidence of the turns that these acts and N-best lists (live ones only) belong to."""
    names = SlotNames(domain, slots, vocabulary)
    n_turns, n_slots = len(restart), len(slots)
    asked = requested_slot(system, vocabulary)
    explicit = mentions_of_acts(names, system, ("expl-conf",))
    implicit = mentions_of_acts(names, system, ("impl-conf",))
    asks_else = _other_questions(domain, names, system)

    turn_of = nbest.turn_of_hypothesis()
    live = ~nbest.batch
    rank = _ranks(nbest)
    informed, affirmed, denied = _claims(
        domain, names, nbest, live, asked[turn_of], explicit, implicit, asks_else
    )
    stands = latest(informed, n_slots)
    informed, affirmed = informed.take(stands), affirmed[stands]
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

    user = domain.user
    yes, no = (_said(nbest, vocabulary, live, acts) for acts in (user.affirm, (*user.negate, *user.undo)))
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
    domain: Domain,
    names: SlotNames,
    nbest: NBest,
    live: Bools,
    asked: Ids,
    explicit: Mentions,
    implicit: Mentions,
    asks_else: Bools,
) -> tuple[Mentions, Bools, Mentions]:
    """The values that hypotheses inform, those informed by a yes, and those they deny.

    A yes or no is about what the system just confirmed explicitly, if that was its only question. A no is
    about what it confirmed implicitly where it asked nothing; beside a question of another kind (do you want
    the next buses?) the no answers that. An undo denies whatever was confirmed, beside any question.
    """
    turn_of, acts, user = nbest.turn_of_hypothesis(), nbest.acts, domain.user
    n_questions = np.bincount(explicit.owner, minlength=len(asks_else)) + asks_else
    single = explicit.take(np.flatnonzero(n_questions[explicit.owner] == 1))
    unasked = implicit.take(np.flatnonzero(n_questions[implicit.owner] == 0))
    kept = live[acts.owner_of_act]

    def said(names_of_acts: tuple[str, ...]) -> Bools:
        return is_among(acts.name, names.vocabulary.find_all(names_of_acts)) & kept

    informed = mentions_of_acts(names, acts, user.inform, kept, asked)
    affirmed = single.answered(acts, turn_of, said(user.affirm))
    denied = Mentions.joined(
        [
            mentions_of_acts(names, acts, user.deny, kept, asked),
            *(part.answered(acts, turn_of, said(user.negate)) for part in (single, unasked)),
            *(part.answered(acts, turn_of, said(user.undo)) for part in (explicit, implicit)),
        ]
    )
    by_yes = np.repeat([False, True], [len(informed), len(affirmed)])
    return Mentions.joined([informed, affirmed]), by_yes, denied.distinct(len(names.slots))


def _other_questions(domain: Domain, names: SlotNames, system: Acts) -> Bools:
    """(n_turns,) whether the system asks a yes/no question that is not about a value: expl-conf(act=...)."""
    act = system.act_of_pair
    confirms = system.name[act] == names.vocabulary.find("expl-conf")
    asks = np.zeros(len(system.name), dtype=bool)
    asks[act[confirms & (names.column[system.slot] < 0)]] = True
    about_slot = np.zeros(len(system.name), dtype=bool)
    about_slot[act[names.column[system.slot] >= 0]] = True
    asks |= acts_matching(domain.yes_no_acts, system, names.vocabulary) & ~about_slot
    return system.owners_where(asks)


def _requested(names: SlotNames, system: Acts) -> Bools:
    """(n_turns, n_slots) whether the system asks for the slot; a question may name slots that stand in for
    each other, their group, or a part of a slot."""
    requested = np.zeros((len(system.offsets) - 1, len(names.slots)), dtype=bool)
    act, name = requested_names(system, names.vocabulary)
    turn, column = system.owner_of_act[act], names.column[name]
    requested[turn[column >= 0], column[column >= 0]] = True
    for group, columns in names.groups.items():
        requested[np.ix_(turn[name == group], columns)] = True
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


def _said(nbest: NBest, vocabulary: Vocabulary, live: Bools, acts: tuple[str, ...]) -> Bools:
    """(h,) whether a live hypothesis holds one of the acts."""
    return live & nbest.acts.owners_where(is_among(nbest.acts.name, vocabulary.find_all(acts)))
