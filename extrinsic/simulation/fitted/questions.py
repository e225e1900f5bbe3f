"""Which concept the logged system asks for, by what it has heard."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.simulation.fitted.confirmed_concepts import confirmed_before
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.utterance import NOTHING
from extrinsic.simulation.world import View

FEWEST = 6
"""So many questions must have been logged in a situation for their shares to count."""

ENOUGH = 20
"""A kind of situation with so many logged questions has a preference of its own."""

MOSTLY = 0.8
"""A concept that is asked for after a yes/no question in a larger share of cases is asked for only then."""

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


@dataclass(frozen=True, eq=False)
class Facts:
    """Of m turns, all (m, n_concepts): which concepts have a value that is acted on, its score, whether it
    was confirmed, explicitly and implicitly; and how often each was asked for."""

    heard: Bools
    score: Floats
    confirmed: Bools
    implied: Bools
    requests: Ints

    def take(self, rows: Ints) -> Facts:
        return Facts(*(getattr(self, field.name)[rows] for field in fields(self)))


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

    def chosen(self, facts: Facts, order: Floats, asked_for: Bools) -> Ints:
        """(m,) the concept; order (n_concepts,): see Questions.   asked_for (m, n_concepts): may it be?"""
        earlier = np.where(np.isinf(order), 0.0, order)
        cost = facts.score + earlier * 1e-6 if self.least_sure else earlier + facts.score * 1e-6
        if self.patience is not None:
            cost = cost + facts.requests // self.patience * 1e4
        if self.settled != "none":
            cost = cost + (facts.confirmed | (facts.implied & (self.settled == "implied"))) * 1e7
        return np.asarray((cost + facts.heard * 1e8 + ~asked_for * 1e10).argmin(axis=1))


PREFERENCES = tuple(
    Preference(settled, patience, least_sure)
    for settled in ("none", "confirmed", "implied")
    for patience in (1, 3, None)
    for least_sure in (True, False)
)


@dataclass(frozen=True, eq=False)
class Preferences:
    """Which preference explains the questions: on the whole, and in situations of one kind.

    usual: the one that agrees with the log most often.   prefers: whether it does so at least as often as the
    question that is usual in each situation.
    kind (n,): those that were logged often enough, ascending.   of_kind (n,): the same of each, NOTHING where
    no preference explains the questions.   asked_for (n, n_concepts): what is ever asked for in it.
    """

    usual: int
    prefers: bool
    kind: Ints
    of_kind: Ints
    asked_for: Bools

    def of(self, kind: Ints, ever: Bools) -> tuple[Ints, Bools]:
        """(m,) the preference in a kind of situation (m,), NOTHING where questions are drawn as logged; and
        (m, n_concepts) what may be asked for.   ever (n_concepts,): what is asked for anywhere."""
        preference = np.full(len(kind), self.usual if self.prefers else NOTHING, dtype=np.int64)
        asked_for = np.tile(ever, (len(kind), 1))
        if len(self.kind):
            row = np.minimum(np.searchsorted(self.kind, kind), len(self.kind) - 1)
            known = self.kind[row] == kind
            preference = np.where(known, self.of_kind[row], preference)
            asked_for = np.where(known[:, None], self.asked_for[row], asked_for)
        return preference, asked_for


@dataclass(frozen=True, eq=False)
class Questions:
    """The kind of a situation is a predicate, which concepts have a value that is acted on, and which are
    needed. The situation is that, and which concepts were asked for.

    columns: the slots of each concept.
    if_declined (n_concepts,): the predicate of the question without which the concept is not asked for ("the
    next few buses?"), NOTHING for none: it is needed once that is not put any more, and had no yes.
    after: the questions in a situation.   before: those in all of its kind.
    order (n_concepts,): the mean turn of the first question for each concept; infinite if there are next to
    none.
    """

    columns: tuple[tuple[int, ...], ...]
    if_declined: Ints
    after: Shares
    before: Shares
    order: Floats
    preferences: Preferences

    def asked(
        self, view: View, heard: Bools, closed: Bools, predicate: Ints, draw: Floats
    ) -> tuple[Ints, Bools]:
        """(m,) the concept that is asked for, and whether one of those that are needed is missing.

        It is the one that the system prefers. Where no preference explains the log, it is drawn as in the log
        in a situation that was logged; where only its kind was, from what was asked for least often.
        heard (m, n_concepts): what has a value that is acted on.   closed (m, n_predicates): the yes/no
        questions that are not put any more (`Sequels.closed`).   draw (m,): in [0, 1).
        """
        requests = _by_concept(self.columns, view.history.requests)
        needed = _needed(view.history.required(view.domain), self.if_declined, closed)
        missing = np.asarray((~heard & needed & ~np.isinf(self.order)).any(axis=1))
        facts = Facts(heard, view.tops.score, view.confirmed, view.implied, requests)
        kind = _situations(predicate, heard, needed)
        preference, asked_for = self.preferences.of(kind, ~np.isinf(self.order))
        asked = np.full(len(predicate), NOTHING, dtype=np.int64)
        rows = np.flatnonzero(preference == NOTHING)
        if len(rows):
            situation = _situations(predicate[rows], heard[rows], needed[rows], requests[rows] > 0)
            asked[rows] = self._as_logged(situation, kind[rows], requests[rows], draw[rows])
            preference = np.where(
                (preference == NOTHING) & (asked == NOTHING), self.preferences.usual, preference
            )
        for number in np.unique(preference[preference != NOTHING]).tolist():
            rows = np.flatnonzero(preference == number)
            asked[rows] = PREFERENCES[number].chosen(facts.take(rows), self.order, asked_for[rows])
        return asked, missing

    def _as_logged(self, situation: Ints, kind: Ints, requests: Ints, draw: Floats) -> Ints:
        """(m,) a concept that was asked for in a situation, or in all of its kind; NOTHING where none was."""
        share, logged = self.after.of(situation)
        usual, known = self.before.of(kind)
        least = np.where(usual > 0.0, requests, np.inf).min(axis=1, keepdims=True)
        usual = np.where(requests == least, usual, 0.0)
        drawn = _drawn(np.where(logged[:, None], share, usual), draw)
        return np.where(logged | known, drawn, NOTHING)


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


def _needed(of_groups: Bools, if_declined: Ints, closed: Bools) -> Bools:
    """(m, n_concepts) what the system needs; slots of no group are never needed.

    of_groups (m, n_groups): see `History.required`.   closed (m, n_predicates): see `Questions.asked`.
    """
    needed = np.pad(of_groups, ((0, 0), (0, len(if_declined) - of_groups.shape[1])))
    return np.asarray(needed & ((if_declined == NOTHING) | closed[:, if_declined]))


def _only_if_declined(logs: Logs, closed: Bools, used: Ints) -> Ints:
    """(n_concepts,) see Questions: where most questions come after that one.

    used: the turns with a question.
    """
    domain = logs.corpora[-1].domain
    if_declined = np.full(logs.values.n_concepts, NOTHING, dtype=np.int64)
    for concept, group in enumerate(domain.groups):
        if group in domain.required_unless:
            question = domain.predicate_names.index(domain.required_unless[group])
            turns = used[logs.turns.asked[used] == concept]
            if len(turns) >= FEWEST and closed[turns, question].mean() > MOSTLY:
                if_declined[concept] = question
    return if_declined


def fit_questions(logs: Logs, heard_from: Floats, closed: Bools) -> Questions:
    """heard_from (n_concepts,): the score from which a value is acted on.
    closed (n_turns, n_predicates): the yes/no questions that were not put any more at each turn."""
    tops, n_concepts, columns = logs.tops, logs.values.n_concepts, logs.values.columns
    used = np.flatnonzero((logs.turns.asked != NOTHING) & (logs.turns.turn > 0))
    heard = (tops.number[used] != NOTHING) & (tops.score[used] >= heard_from)
    requests = np.concatenate([_by_concept(columns, log.history.requests) for log in logs.corpora])[used - 1]
    if_declined = _only_if_declined(logs, closed, used)
    required = np.concatenate([log.history.required(log.domain) for log in logs.corpora])[used - 1]
    needed = _needed(required, if_declined, closed[used])
    asked, predicate = logs.turns.asked[used], logs.turns.system.predicate[used]
    order = _order(logs, used)
    facts = Facts(heard, tops.score[used], *confirmed_before(logs, used), requests)
    kind = _situations(predicate, heard, needed)
    situation = _situations(predicate, heard, needed, requests > 0)
    return Questions(
        columns=columns,
        if_declined=if_declined,
        after=_shares(situation, asked, n_concepts),
        before=_shares(kind, asked, n_concepts),
        order=order,
        preferences=_preferences(facts, order, kind, situation, asked),
    )


def _order(logs: Logs, used: Ints) -> Floats:
    """(n_concepts,) the mean turn of the first question for each concept, also in the greeting."""
    dialog, asked = logs.turns.dialog, logs.turns.asked
    order = np.full(logs.values.n_concepts, np.inf)
    for concept in range(len(order)):
        if np.sum(asked[used] == concept) > RAREST * len(used):
            turns = np.flatnonzero(asked == concept)
            order[concept] = logs.turns.turn[turns[np.unique(dialog[turns], return_index=True)[1]]].mean()
    return order


def _preferences(facts: Facts, order: Floats, kind: Ints, situation: Ints, asked: Ints) -> Preferences:
    ever = np.tile(~np.isinf(order), (len(asked), 1))
    usual, prefers = _explains(facts, order, ever, situation, asked)
    kinds, row = np.unique(kind, return_inverse=True)
    kinds_often = np.flatnonzero(np.bincount(row, minlength=len(kinds)) >= ENOUGH)
    of_kind = np.full(len(kinds_often), NOTHING, dtype=np.int64)
    asked_for = np.zeros((len(kinds_often), len(order)), dtype=bool)
    for number, of_row in enumerate(kinds_often.tolist()):
        rows = np.flatnonzero(row == of_row)
        counts = np.bincount(asked[rows], minlength=len(order))
        asked_for[number] = counts > RAREST * len(rows)
        best, better = _explains(
            facts.take(rows), order, np.tile(asked_for[number], (len(rows), 1)), situation[rows], asked[rows]
        )
        of_kind[number] = best if better else NOTHING
    return Preferences(usual, prefers, kinds[kinds_often], of_kind, asked_for)


def _explains(
    facts: Facts, order: Floats, asked_for: Bools, situation: Ints, asked: Ints
) -> tuple[int, bool]:
    """The preference that agrees most often, and whether it does as often as the usual question of each
    situation."""
    if not len(asked):
        return 0, True
    agreement = [int(np.sum(each.chosen(facts, order, asked_for) == asked)) for each in PREFERENCES]
    _, row = np.unique(situation, return_inverse=True)
    counts = np.zeros((int(row.max()) + 1, len(order)), dtype=np.int64)
    np.add.at(counts, (row, asked), 1)
    best = int(np.argmax(agreement))
    return best, agreement[best] >= int(counts.max(axis=1).sum())


def _shares(situation: Ints, asked: Ints, n_concepts: int) -> Shares:
    situations, row = np.unique(situation, return_inverse=True)
    counts = np.zeros((len(situations), n_concepts))
    np.add.at(counts, (row, asked), 1.0)
    often = counts.sum(axis=1) >= FEWEST
    return Shares(situations[often], counts[often] / counts[often].sum(axis=1, keepdims=True))
