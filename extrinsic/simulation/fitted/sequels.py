"""What may follow what: the predicates that a system chose after its last turn and the caller's reply."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.history import History
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.fitted.logged_dialogs import Logs

RAREST = 0.02
"""What the log did in fewer cases counts as a mistake in reading it."""

LEAST_OFTEN, LEAST_SHARE = 2, 0.003
"""A predicate that followed a situation less often, or in a smaller share of cases, does not count as
possible there."""

ENOUGH = 20
"""After so many turns with a reply, what hardly ever followed it is impossible; after fewer, the reply is
ignored."""

SURE_FROM = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
"""The scores that are tried as those above which the system acts on a reply."""


@dataclass(frozen=True, eq=False)
class Sequels:
    """follows (2, n_predicates + 1, n_predicates): what the log did at least sometimes, by whether something
    had been offered and by what the system had done last.
    after (2, n_predicates + 1, n_replies, n_predicates): the same by what the caller replied, as far as
    enough (2, n_predicates + 1, n_replies) turns were like that.
    reply (n_turns,): what the caller replied at each turn of the logs: a yes, a no, a command, each by
    whether its score is above sure_from; 0 for nothing of the kind.
    settles (n_turns,): whether it is a sure yes or no.   once (n_predicates,): the questions that are not
    asked again in a dialog after such an answer.
    """

    follows: Bools
    after: Bools
    enough: Bools
    reply: Ints
    sure_from: float
    settles: Bools
    once: Bools

    @cached_property
    def ever(self) -> Bools:
        """(n_predicates,) what the log did at all."""
        return np.asarray(self.follows.any(axis=(0, 1)))

    def closed(self, offered: Bools, settled: Bools) -> Bools:
        """(m, n_predicates) the questions that are not put any more: they have had a sure answer, or never
        come once something was offered.   offered (m,).   settled (m, n_predicates): see `possible`."""
        return np.asarray(settled | (offered[:, None] & ~self.follows[1].any(axis=0)))

    def possible(self, history: History, reply: Ints, settled: Bools) -> Bools:
        """(m, n_predicates) what the logged system did in such a place.

        reply (m,): of the caller.   settled (m, n_predicates): the questions that have had a sure answer.
        """
        place = place_of(history)
        near = self.enough[(*place, reply)][:, None]
        possible = np.where(near, self.after[(*place, reply)], self.follows[place])
        return np.asarray(possible & ~(settled & self.once))


def settled_before(logs: Logs, settles: Bools) -> Bools:
    """(n_turns, n_predicates) the yes/no questions that had had a sure answer before each turn of the logs.

    settles (n_turns,): see `Sequels`.
    """
    domain, dialog = logs.corpora[-1].domain, logs.turns.dialog
    settled = np.zeros((len(dialog), len(domain.predicate_names)), dtype=bool)
    for name in domain.yes_no:
        number = domain.predicate_names.index(name)
        answered = np.flatnonzero((logs.turns.system.predicate == number) & settles)
        first = np.full(int(dialog.max(initial=0)) + 1, len(dialog), dtype=np.int64)
        np.minimum.at(first, dialog[answered], answered)
        settled[:, number] = np.arange(len(dialog)) > first[dialog]
    return settled


def place_of(history: History) -> tuple[Ints, Ints]:
    """(m,), (m,) whether something has been offered, and the system's last predicate, counted from 1."""
    return history.offered.astype(np.int64), history.predicate.astype(np.int64) + 1


def fit_sequels(logs: Logs) -> Sequels:
    """What followed what in the logs."""
    domain = logs.corpora[-1].domain
    n_predicates = len(domain.predicate_names)
    names, score = logs.turns.lists.replies()
    before, predicate, offered = _decisions(logs)
    place = offered * (n_predicates + 1) + logs.turns.system.predicate[before] + 1
    numbered = {sure_from: _numbered(names, score, sure_from) for sure_from in SURE_FROM}
    tables = {
        sure_from: _counts(place, reply[before], predicate, 2 * (n_predicates + 1), n_predicates)
        for sure_from, reply in numbered.items()
    }
    sure_from = max(tables, key=lambda value: _information(tables[value]))
    counts = tables[sure_from].reshape(2, n_predicates + 1, -1, n_predicates)
    counts[..., [domain.predicate_names.index(name) for name in domain.greeting]] = 0
    any_reply = counts.sum(axis=2)
    # What is usual at that stage of a dialog may follow anything, even what it happened not to follow.
    share = any_reply.sum(axis=1) / np.maximum(any_reply.sum(axis=(1, 2))[:, None], 1)
    words = logs.values.vocabulary
    settles = np.isin(names, words.find_all([*domain.user.affirm, *domain.user.negate])) & (score > sure_from)
    return Sequels(
        follows=np.asarray((any_reply >= LEAST_OFTEN) | (share > RAREST)[:, None, :]),
        after=(counts >= LEAST_OFTEN) & (counts >= LEAST_SHARE * counts.sum(axis=3, keepdims=True)),
        enough=counts.sum(axis=3) >= ENOUGH,
        reply=numbered[sure_from],
        sure_from=sure_from,
        settles=settles,
        once=_asked_once(logs, settles),
    )


def _decisions(logs: Logs) -> tuple[Ints, Ints, Ints]:
    """Of every decision but the first of a dialog: the turn before it, its predicate, and whether something
    had been offered."""
    parts = []
    first = 0
    for log in logs.corpora:
        later = np.flatnonzero((log.turn_in_dialog > 0) & (log.predicate >= 0) & ~log.restart)
        offered = log.history.offered[later - 1].astype(np.int64)
        parts.append((first + later - 1, log.predicate[later].astype(np.int64), offered))
        first += log.n_turns
    before, predicate, offered = (np.concatenate(column) for column in zip(*parts, strict=True))
    return before, predicate, offered


def _asked_once(logs: Logs, settles: Bools) -> Bools:
    """(n_predicates,) the yes/no questions that hardly ever came again after a sure answer."""
    predicate, settled = logs.turns.system.predicate, settled_before(logs, settles)
    once = np.zeros(settled.shape[1], dtype=bool)
    for number in np.flatnonzero(settled.any(axis=0)).tolist():
        turns = np.flatnonzero(predicate == number)
        n_answered, again = int(settles[turns].sum()), int(settled[turns, number].sum())
        once[number] = n_answered >= ENOUGH and again <= RAREST * n_answered
    return once


def _numbered(names: Ids, score: Floats, sure_from: float) -> Ints:
    """(n_turns,) 0 for no reply, else a number for its name and whether its score is above `sure_from`."""
    _, number = np.unique(np.append(NONE, names), return_inverse=True)
    return np.where(names == NONE, 0, 2 * number[1:] + (score > sure_from))


def _counts(place: Ints, reply: Ints, predicate: Ints, n_places: int, n_predicates: int) -> Ints:
    """(n_places, n_replies, n_predicates) how often a predicate followed."""
    counts = np.zeros((n_places, int(reply.max(initial=0)) + 1, n_predicates), dtype=np.int64)
    np.add.at(counts, (place, reply, predicate), 1)
    return counts


def _information(counts: Ints) -> float:
    """How much replies tell of the predicate that follows, beyond the place: the log-likelihood ratio."""
    return _entropy_sum(counts.sum(axis=1)) - _entropy_sum(counts)


def _entropy_sum(counts: Ints) -> float:
    """The sum over rows of n log n - sum_i n_i log n_i."""
    total = counts.sum(axis=-1)
    return float(_log_powers(total).sum() - _log_powers(counts).sum())


def _log_powers(counts: Ints) -> Floats:
    return np.asarray(counts * np.log(np.maximum(counts, 1)))
