"""Which concept the logged system asks for, by what it has heard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.fitted.confirmed_concepts import confirmed_before
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.utterance import NOTHING
from extrinsic.simulation.world import View

FEWEST = 6
"""So many questions must have been logged in a situation for their shares to count."""

RAREST = 0.02
"""A concept that a smaller share of the questions is for counts as never asked for."""


@dataclass(frozen=True, eq=False)
class Shares:
    """situation (n,): those that were logged often enough, ascending.
    share (n, n_concepts): of the questions in each, those for a concept."""

    situation: Ints
    share: Floats

    def of(self, situation: Ints) -> tuple[Floats, Bools]:
        """(m, n_concepts) the shares in a situation (m,), and whether it was logged often enough."""
        if not len(self.situation):
            return np.zeros((len(situation), self.share.shape[1])), np.zeros(len(situation), dtype=bool)
        row = np.minimum(np.searchsorted(self.situation, situation), len(self.situation) - 1)
        return self.share[row], np.asarray(self.situation[row] == situation)


@dataclass(frozen=True)
class Preference:
    """What is asked for first: what is missing, then what is not settled, then as follows.

    settled: whether a confirmed value counts as settled, also one that was confirmed implicitly.
    patience: after so many questions for a concept the others have their turn; None: never.
    least_sure: whether the least sure comes next, or the one that the log asks for earlier.
    """

    settled: Literal["none", "confirmed", "implied"]
    patience: int | None
    least_sure: bool

    def chosen(self, facts: Facts, order: Floats) -> Ints:
        """(m,) the concept; order (n_concepts,): see Questions."""
        never = np.isinf(order)
        settled = {
            "none": np.zeros_like(facts.heard),
            "confirmed": facts.confirmed,
            "implied": facts.confirmed | facts.implied,
        }[self.settled]
        turns = np.zeros_like(facts.requests) if self.patience is None else facts.requests // self.patience
        earlier = np.where(never, 0.0, order)
        last = facts.score + earlier * 1e-6 if self.least_sure else earlier + facts.score * 1e-6
        return np.asarray((facts.heard * 1e8 + settled * 1e7 + turns * 1e4 + last + never * 1e10).argmin(axis=1))


PREFERENCES = tuple(
    Preference(settled, patience, least_sure)
    for settled in ("none", "confirmed", "implied")
    for patience in (1, 3, None)
    for least_sure in (True, False)
)


@dataclass(frozen=True, eq=False)
class Facts:
    """Of m turns, all (m, n_concepts): which concepts have a value that is acted on, its score, whether it
    was confirmed, explicitly and implicitly; and how often each was asked for."""

    heard: Bools
    score: Floats
    confirmed: Bools
    implied: Bools
    requests: Ints


@dataclass(frozen=True, eq=False)
class Questions:
    """A situation is a predicate, which concepts have a value that is acted on, and which were asked for.

    columns: the slots of each concept.
    after: the questions in a situation.   before: those by predicate and values alone.
    order (n_concepts,): the mean turn of the questions for each concept; infinite if there are next to none.
    preference: the one that agrees with the log most often.   prefers: whether it does so oftener than the
    usual question of each situation, and so is all that there is to know.
    """

    columns: tuple[tuple[int, ...], ...]
    after: Shares
    before: Shares
    order: Floats
    preference: Preference
    prefers: bool

    def asked(self, view: View, heard: Bools, predicate: Ints, draw: Floats) -> tuple[Ints, Bools]:
        """(m,) the concept that is asked for, and whether one of those that are needed is missing.

        It is the one that the system prefers. Where preferences do not explain the log, it is drawn as in the
        log in a situation that was logged; where only its predicate and values were, from what was asked for
        least often.
        heard (m, n_concepts): what has a value that is acted on.   draw (m,): in [0, 1).
        """
        requests = _by_concept(self.columns, view.history.requests)
        of_groups = view.history.required(view.domain)
        required = np.pad(of_groups, ((0, 0), (0, len(self.columns) - of_groups.shape[1])))
        missing = np.asarray((~heard & required & ~np.isinf(self.order)).any(axis=1))
        facts = Facts(heard, view.tops.score, view.confirmed, view.implied, requests)
        preferred = self.preference.chosen(facts, self.order)
        if self.prefers:
            return preferred, missing
        share, logged = self.after.of(_situations(predicate, heard, requests > 0))
        usual, known = self.before.of(_situations(predicate, heard))
        least = np.where(usual > 0.0, requests, np.inf).min(axis=1, keepdims=True)
        usual = np.where(requests == least, usual, 0.0)
        share = np.where(logged[:, None], share, usual)
        drawn = _drawn(share, draw)
        return np.where(logged | known, drawn, preferred), missing


def _drawn(share: Floats, draw: Floats) -> Ints:
    """(m,) a column of each row, with the probabilities of the row (m, n); the first where all are 0."""
    up_to = np.cumsum(share, axis=1)
    return np.asarray((draw[:, None] * up_to[:, -1:] >= up_to).sum(axis=1) % share.shape[1])


def _by_concept(columns: tuple[tuple[int, ...], ...], requests: Ints) -> Ints:
    return np.stack([requests[:, of_concept].max(axis=1) for of_concept in columns], axis=1)


def _situations(predicate: Ints, *flags: Bools) -> Ints:
    """(m,) each situation as a number."""
    number = predicate
    for table in flags:
        number = (number << table.shape[1]) + table @ (1 << np.arange(table.shape[1]))
    return np.asarray(number)


def fit_questions(logs: Logs, heard_from: Floats) -> Questions:
    """heard_from (n_concepts,): the score from which a value is acted on."""
    tops, asked = logs.tops, logs.turns.asked
    n_concepts, columns = logs.values.n_concepts, logs.values.columns
    used = np.flatnonzero((asked != NOTHING) & (logs.turns.turn > 0))
    heard = (tops.number[used] != NOTHING) & (tops.score[used] >= heard_from)
    counts = np.concatenate([_by_concept(columns, log.history.requests) for log in logs.corpora])
    requests, predicate, asked = counts[used - 1], logs.turns.system.predicate[used], asked[used]
    order = np.full(n_concepts, np.inf)
    for concept in range(n_concepts):
        of_concept = used[asked == concept]
        if len(of_concept) > RAREST * len(used):
            order[concept] = logs.turns.turn[of_concept].mean()
    facts = Facts(heard, tops.score[used], *confirmed_before(logs, used), requests)
    agreement = [float(np.mean(each.chosen(facts, order) == asked)) for each in PREFERENCES]
    situation = _situations(predicate, heard, requests > 0)
    return Questions(
        columns=columns,
        after=_shares(situation, asked, n_concepts),
        before=_shares(_situations(predicate, heard), asked, n_concepts),
        order=order,
        preference=PREFERENCES[int(np.argmax(agreement))],
        prefers=max(agreement) > _usual_agreement(situation, asked, n_concepts),
    )


def _usual_agreement(situation: Ints, asked: Ints, n_concepts: int) -> float:
    """The share of questions that are the usual one of their situation."""
    _, row = np.unique(situation, return_inverse=True)
    counts = np.zeros((int(row.max(initial=-1)) + 1, n_concepts))
    np.add.at(counts, (row, asked), 1.0)
    return float(counts.max(axis=1, initial=0.0).sum() / max(len(asked), 1))


def _shares(situation: Ints, asked: Ints, n_concepts: int) -> Shares:
    situations, row = np.unique(situation, return_inverse=True)
    counts = np.zeros((len(situations), n_concepts))
    np.add.at(counts, (row, asked), 1.0)
    often = counts.sum(axis=1) >= FEWEST
    return Shares(situations[often], counts[often] / counts[often].sum(axis=1, keepdims=True))
