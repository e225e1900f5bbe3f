"""Answers of logged callers, given again: to whom, by the context, and with whose values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints, take_rows
from extrinsic.corpus.acts import Acts, NBest
from extrinsic.simulation.fitted.caller_states import FEATURES, Contexts
from extrinsic.simulation.fitted.coded_acts import REQUEST, RIGHT, VALUE, CodedActs, spelled_out
from extrinsic.simulation.fitted.confusions import ConfusedTurn
from extrinsic.simulation.fitted.logged_dialogs import Logs
from extrinsic.simulation.utterance import NOTHING

LEVELS = (
    FEATURES,
    ("ends", "predicate", "claim", "about", "asked", "wants asked", "content", "untold"),
    ("ends", "predicate", "claim", "asked", "wants asked", "content", "untold"),
    ("ends", "predicate", "claim", "about", "asked", "wants asked", "content"),
    ("ends", "predicate", "claim", "asked", "wants asked", "content"),
    ("ends", "predicate", "claim", "content"),
    ("ends", "predicate", "claim"),
    ("ends", "predicate"),
    ("ends",),
)
"""What a context is reduced to where too few turns of the log were like it, level by level."""

FEWEST = 6
"""A context needs that many logged turns."""

FEWEST_OWN = 30
"""Where logs differ, a context with that many turns in the last log is answered from that alone."""

WINDOW = 0.06
"""An answer comes from a caller within this share of the turns on either side, by error level."""

FEWEST_NEAR = 3.0


class LoggedAnswers:
    """The turns of logs by context, and within one by how badly their callers are heard.

    A turn after which a content caller answers comes from the last log alone: how long callers stay on after
    they have what they wanted differs between logs more than anything else. So do all answers as far as they
    can, if callers of the logs are not heard alike: recognisers differ in more than how often they are right.
    """

    def __init__(self, logs: Logs) -> None:
        turns, callers = logs.turns, logs.callers
        self.logs = logs
        order = np.argsort(callers.error, axis=0, kind="stable")
        self.ranks: Ints = np.empty_like(order)
        np.put_along_axis(self.ranks, order, np.arange(len(order))[:, None], axis=0)
        self.radix = turns.context.max(axis=0, initial=0) + 2
        own = [(np.flatnonzero(turns.own), FEWEST_OWN)] if callers.heard_apart else []
        sources = [*own, (np.flatnonzero(turns.own | ~turns.content), FEWEST)]
        self.tables = [
            (number, *self._table(usable, level), fewest)
            for number, level in enumerate(LEVELS)
            for usable, fewest in sources
        ]

    def _table(self, usable: Ints, level: tuple[str, ...]) -> tuple[Ints, Ints]:
        """The keys of the usable turns at a level, ascending, and the turns in that order."""
        contexts, dialog = self.logs.turns.context[usable], self.logs.turns.dialog[usable]
        key = self._key(contexts, level) * len(self.ranks) + self._rank(contexts, dialog)
        order = np.argsort(key, kind="stable")
        return key[order], usable[order]

    def _key(self, context: Ints, level: tuple[str, ...]) -> Ints:
        """(m,) the context, reduced to the features of a level, as one number; -1 if never logged."""
        columns = [FEATURES.index(name) for name in level]
        within = (context[:, columns] < self.radix[columns]).all(axis=1)
        key = np.zeros(len(context), dtype=np.int64)
        for column in columns:
            key = key * self.radix[column] + np.minimum(context[:, column], self.radix[column] - 1)
        return np.where(within, key, -1)

    def _rank(self, contexts: Ints, callers: Ints) -> Ints:
        """(m,) how badly callers (m,) are heard, as ranks: of what is asked for, else of what is confirmed,
        else on the whole."""
        asked, about = (contexts[:, FEATURES.index(name)] - 1 for name in ("asked", "about"))
        # The last column is that of all concepts, as NOTHING is -1.
        return np.asarray(self.ranks[callers, np.where(asked == NOTHING, about, asked)])

    def choose(self, contexts: Ints, callers: Ints, draw: Floats) -> tuple[Ints, Ints]:
        """(m,) the logged turn that is answered like, and the level of its context.

        contexts (m, len(FEATURES)).   callers (m,): whose error level counts.   draw (m,): in [0, 1).
        """
        n_ranks = len(self.ranks)
        chosen = np.full(len(contexts), NOTHING, dtype=np.int64)
        level_of = np.full(len(contexts), len(LEVELS), dtype=np.int64)
        for number, sorted_keys, turns, fewest in self.tables:
            rows = np.flatnonzero(chosen == NOTHING)
            if not len(rows):
                break
            key = self._key(contexts[rows], LEVELS[number])
            begin = np.searchsorted(sorted_keys, key * n_ranks)
            count = np.searchsorted(sorted_keys, (key + 1) * n_ranks) - begin
            enough = np.flatnonzero((count >= fewest) & (key >= 0))
            rows, key, begin, count = rows[enough], key[enough], begin[enough], count[enough]
            rank = self._rank(contexts[rows], callers[rows])
            position = np.searchsorted(sorted_keys, key * n_ranks + rank) - begin
            width = np.maximum(WINDOW * count, FEWEST_NEAR)
            position = np.floor(position + width * (2.0 * draw[rows] - 1.0)).astype(np.int64)
            position = np.where(position < 0, -position - 1, position)
            position = np.where(position >= count, 2 * count - 1 - position, position)
            chosen[rows] = turns[begin + np.clip(position, 0, count - 1)]
            level_of[rows] = number
        return chosen, level_of


def in_rare_contexts(answers: LoggedAnswers, contexts: Ints) -> Bools:
    """(m,) whether a whole context (m, len(FEATURES)) was logged fewer than FEWEST times."""
    nobody = np.zeros(len(contexts), dtype=np.int64)
    return np.asarray(answers.choose(contexts, nobody, np.zeros(len(contexts)))[1] > 0)


@dataclass(frozen=True, eq=False)
class Speakers:
    """m callers about to answer.

    goal, told (m, n_concepts), wants (m, n_concepts): of this caller.   wish (m,): the fact asked for next,
    NOTHING for none.   confused: what values are taken for.   other_fact (m,): what a request is taken for.
    """

    goal: Ints
    told: Bools
    wants: Bools
    wish: Ints
    confused: ConfusedTurn
    other_fact: Ints


@dataclass(frozen=True, eq=False)
class Spoken:
    """The answers of m callers: N-best lists, what the best hypothesis is about (m, n_concepts), which
    concepts were truly said (m, n_concepts), and all that was, as acts (None where logs do not tell)."""

    nbest: NBest
    mentioned: Bools
    said: Bools
    said_acts: Acts | None


def alignment(logs: Logs, turns: Ints, contexts: Contexts, role: Bools, speakers: Speakers) -> Ints:
    """(m, n_concepts) which concept of the answer each concept of a logged turn becomes.

    What the logged turn confirmed, asked for or offered wrongly becomes what this one does; and what the
    logged caller told unasked becomes something that this one has not told yet.
    role (m, n_concepts): what the system's turn is about.
    """
    n_concepts = logs.values.n_concepts
    mapped = np.tile(np.arange(n_concepts), (len(turns), 1))
    logged, here = (_first_two(flags, mapped[0]) for flags in (logs.turns.wrong[turns], contexts.wrong))
    pairs = [(logged[:, 0], here[:, 0]), (logged[:, 1], here[:, 1])]
    pairs += [(logs.turns.about[turns], contexts.about), (logs.turns.asked[turns], contexts.asked)]
    for source, target in pairs:
        rows = np.flatnonzero((source != NOTHING) & (target != NOTHING))
        _swap(mapped, rows, mapped[rows, source[rows]], target[rows])
    # A system that asks for what it confirms is answered with that concept, by a yes, a no or a question.
    rows = np.flatnonzero((contexts.about != NOTHING) & (contexts.about == contexts.asked))
    for source in (logs.turns.about[turns[rows]], logs.turns.asked[turns[rows]]):
        known = np.flatnonzero(source != NOTHING)
        mapped[rows[known], source[known]] = contexts.about[rows[known]]
    news = np.zeros_like(role)
    row, concept = np.nonzero(logs.turns.mentioned[turns] & ~logs.turns.told[turns])
    news[row, mapped[row, concept]] = True
    left = speakers.wants & ~speakers.told & ~role
    # What the system never asks for is told by who wants it: that comes first.
    by_need = np.argsort(~logs.unasked, kind="stable")
    useless, useful = _first_two(news & ~role & ~left, by_need), _first_two(left & ~news, by_need)
    for place in range(2):
        rows = np.flatnonzero((useless[:, place] != NOTHING) & (useful[:, place] != NOTHING))
        _swap(mapped, rows, useless[rows, place], useful[rows, place])
    return mapped


def _swap(mapped: Ints, rows: Ints, first: Ints, second: Ints) -> None:
    """What becomes `first` (k,) in the rows (k,) becomes `second`, and the other way round."""
    part, one, other = mapped[rows], first[:, None], second[:, None]
    mapped[rows] = np.where(part == one, other, np.where(part == other, one, part))


def _first_two(flags: Bools, order: Ints) -> Ints:
    """(m, 2) the first and second column that is set, NOTHING for none; order: in which columns come."""
    found = np.argsort(~flags[:, order], axis=1, kind="stable")
    first, second = order[found[:, 0]], order[found[:, min(1, len(order) - 1)]]
    count = flags.sum(axis=1)
    return np.stack([np.where(count > 0, first, NOTHING), np.where(count > 1, second, NOTHING)], axis=1)


def speak(logs: Logs, turns: Ints, contexts: Contexts, speakers: Speakers) -> Spoken:
    """The answers that logged callers gave at `turns` (m,), with the values of these speakers."""
    lists = logs.turns.lists
    role = contexts.wrong.copy()
    for concept in (contexts.about, contexts.asked):
        rows = np.flatnonzero(concept != NOTHING)
        role[rows, concept[rows]] = True
    mapped = alignment(logs, turns, contexts, role, speakers)
    offsets, hypotheses = take_rows(lists.offsets, turns)
    coded = lists.acts.take(hypotheses)
    speaker = np.repeat(np.arange(len(turns)), np.diff(offsets))[coded.owner]
    number, fact, kept = _values_said(logs, turns, coded, speaker, mapped, role, speakers)
    acts = spelled_out(coded, logs.values, logs.corpora[-1].requestable, number, fact, kept)
    score = lists.score[hypotheses]
    nbest = NBest(offsets, score, np.zeros(len(score), dtype=bool), acts)
    is_best = hypotheses == lists.offsets[:-1][turns][np.repeat(np.arange(len(turns)), np.diff(offsets))]
    best = np.flatnonzero(is_best[coded.owner] & (coded.kind == VALUE) & kept)
    mentioned = np.zeros_like(role)
    mentioned[speaker[best], mapped[speaker[best], coded.about[best]]] = True
    if logs.turns.said is None:
        return Spoken(nbest, mentioned, mentioned, None)
    true = logs.turns.said.take(turns)
    speaker = true.owner
    # What was truly said is never misheard.
    number, fact, kept = _values_said(logs, turns, true, speaker, mapped, role, speakers)
    kept &= ((true.kind != VALUE) & (true.kind != REQUEST)) | (true.code == RIGHT)
    said_acts = spelled_out(true, logs.values, logs.corpora[-1].requestable, number, fact, kept)
    rows = np.flatnonzero(kept & (true.kind == VALUE))
    said = np.zeros_like(role)
    said[speaker[rows], mapped[speaker[rows], true.about[rows]]] = True
    return Spoken(nbest, mentioned, said, said_acts)


def _values_said(
    logs: Logs, turns: Ints, coded: CodedActs, speaker: Ints, mapped: Ints, role: Bools, speakers: Speakers
) -> tuple[Ints, Ints, Bools]:
    """(k,) the value of each phrase of a value, the fact of each request, and which phrases are said.

    What the logged caller told for the first time, and this one has told before, is not said again; nor is
    what this one does not want, unless the system's turn is about it.
    """
    of_value = coded.kind == VALUE
    logged_concept = np.where(of_value, coded.about, 0)
    concept = mapped[speaker, logged_concept]
    number = speakers.goal[speaker, concept]
    wrong = np.flatnonzero(of_value & (coded.code != RIGHT))
    place, elsewhere = np.abs(coded.code[wrong]) - 1, (coded.code[wrong] < RIGHT).astype(np.int64)
    number[wrong] = speakers.confused.values(speaker[wrong], concept[wrong], place, elsewhere)
    turn = turns[speaker]
    caller = logs.turns.dialog[turn]
    told_first = ~logs.turns.told[turn, logged_concept] & speakers.told[speaker, concept]
    callers = logs.callers
    cared = callers.wanted[caller, logged_concept] & ~callers.indifferent[caller, logged_concept]
    unwanted = cared & ~speakers.wants[speaker, concept]
    dropped = of_value & (~role[speaker, concept] & (told_first | unwanted) | (number == NOTHING))
    if logs.turns.said is not None:
        # What was misheard was said: somebody who never speaks of a concept is not misheard about it.
        spoken_of = callers.goal[caller, logged_concept] != NOTHING
        dropped |= of_value & spoken_of & (speakers.goal[speaker, concept] == NOTHING)
    fact = np.where(coded.code == RIGHT, speakers.wish[speaker], speakers.other_fact[speaker])
    dropped |= (coded.kind == REQUEST) & (fact == NOTHING)
    return np.where(of_value, number, 0), np.maximum(fact, 0), ~dropped
