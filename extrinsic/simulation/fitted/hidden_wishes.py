"""What callers want of which the labels know nothing, because it was never heard."""

from __future__ import annotations

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.model import Corpus
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.utterance import NOTHING

FEWEST = 20
"""So many callers must have been asked twice for the share of those who answer to be estimated."""


CERTAIN = 0.95
"""A concept that so many callers are known to want is wanted by all."""

PRIOR_QUESTIONS = 100
"""How many second questions the answers to other concepts are worth."""


def wish_probabilities(
    n_dialogs: int, dialog: Ints, asked: Ints, told: Bools, mentioned: Bools, wanted: Bools
) -> Floats:
    """(n_dialogs, n_concepts) the probability that the caller wants something of each concept.

    It is 1 where something was heard of it. Else it follows from the questions that stayed without answer:
    if a share w wants the concept and answers a question with probability a, first questions are answered in
    a share r1 = w a, and second ones, after a first without answer, in r2 = w (1 - a) a / (1 - r1). Who left
    k questions open wants it with probability w (1 - a)^k / (w (1 - a)^k + 1 - w). Where next to nobody was
    asked twice, who was asked wants it as often as others who were. Second questions are few, so a is drawn
    to the share of questions that are answered where everybody wants the concept.

    dialog, asked (n,): of every turn.   told, mentioned (n, n_concepts): before the turn, and by its answer.
    wanted (n_dialogs, n_concepts): what is known to be wanted.
    """
    probability = wanted.astype(np.float64)
    usual = _answered_if_wanted(dialog, asked, told, mentioned, wanted)
    for concept in range(wanted.shape[1]):
        turns = np.flatnonzero((asked == concept) & ~told[:, concept] & (asked != NOTHING))
        questions = np.bincount(dialog[turns], minlength=n_dialogs)
        first = turns[np.unique(dialog[turns], return_index=True)[1]]
        later = np.setdiff1d(turns, first)
        second = later[np.unique(dialog[later], return_index=True)[1]]
        open_ = ~wanted[:, concept]
        known = _share(wanted[:, concept], questions > 0)
        if len(second) < FEWEST:
            # Silence that was not tested by a second question says nothing about the wish.
            probability[open_ & (questions > 0), concept] = known
            continue
        of_first, of_second = mentioned[first, concept].mean(), mentioned[second, concept].mean()
        if not of_first:
            continue
        answers = 1.0 - of_second * (1.0 - of_first) / of_first
        if usual is not None:
            answers = (len(second) * answers + PRIOR_QUESTIONS * usual) / (len(second) + PRIOR_QUESTIONS)
        wants = float(np.clip(of_first / max(answers, of_first), known, 1.0))
        # Who was never asked is no sample of who was: a system asks for what it seems to lack.
        silent = open_ & (questions > 0)
        left = wants * (1.0 - np.clip(answers, 0.0, 1.0)) ** questions[silent]
        probability[silent, concept] = left / (left + 1.0 - wants) if wants < 1.0 else 1.0
    return probability


def content_with(log: Corpus, n_concepts: int) -> Bools:
    """(n_dialogs, n_concepts) the concepts that a caller does without: who will take the next bus names no
    time."""
    domain = log.domain
    without = np.zeros((log.n_dialogs, n_concepts), dtype=bool)
    granted = np.bitwise_or.reduceat(log.history.granted, log.offsets[:-1])
    for concept, group in enumerate(domain.groups):
        if group in domain.required_unless:
            bit = domain.yes_no.index(domain.required_unless[group])
            without[:, concept] = (granted >> bit) & 1 == 1
    return without


def _answered_if_wanted(
    dialog: Ints, asked: Ints, told: Bools, mentioned: Bools, wanted: Bools
) -> float | None:
    """The share of questions that are answered, of concepts that all callers want; None for no question."""
    certain = np.flatnonzero(wanted.mean(axis=0) >= CERTAIN)
    turns = np.flatnonzero(np.isin(asked, certain))
    turns = turns[~told[turns, asked[turns]]]
    return float(mentioned[turns, asked[turns]].mean()) if len(turns) >= FEWEST else None


def wish_untold(silent_for: Ints, tells: Bools) -> Floats:
    """(n_dialogs,) the probability that a caller wants something of a concept that the system never asks for.

    Callers tell it when they come to it, and some calls end before. F(t) is the share of callers who would
    have told within t turns (Kaplan & Meier 1958); where it ends is the share of those who want the concept.
    Who was silent for t turns, and then gone, wants it with probability (F(end) - F(t)) / (1 - F(t)).
    silent_for (n_dialogs,): the turns before it was told, or all of them.   tells (n_dialogs,).

    A quarter tells it at once, a quarter in the second turn, which another one does not live to see:
    F(1) = 1/4, F(2) = 1/4 + 3/4 * 1/2.

    >>> wish_untold(np.array([0, 1, 1, 5] * 20), np.array([True, True, False, False] * 20))[:4].round(3)
    array([1. , 1. , 0.5, 0. ])
    """
    n_turns = int(silent_for.max(initial=0)) + 1
    told = np.bincount(silent_for[tells], minlength=n_turns)
    gone = np.bincount(silent_for[~tells], minlength=n_turns)
    # Who is gone after t turns did not speak at turn t, counted from 0.
    speak = len(tells) - np.cumsum(gone) - (np.cumsum(told) - told)
    hazard = np.where(speak >= FEWEST, told / np.maximum(speak, 1), 0.0)
    silent = np.append(1.0, np.cumprod(1.0 - hazard))
    return np.where(tells, 1.0, 1.0 - silent[-1] / silent[silent_for])


def untold_wishes(offsets: Ints, mentioned: Bools, unasked: Bools, chance: Chance) -> Bools:
    """(n_dialogs, n_concepts) who is drawn to want what is never asked for, and was gone before telling it.

    Without them, callers who do tell would do so oftener than callers do. offsets (n_dialogs + 1,): the turns
    of each dialog.   mentioned (n_turns, n_concepts): by the best hypothesis.   unasked (n_concepts,).
    """
    n_turns = np.diff(offsets)
    dialog = np.repeat(np.arange(len(n_turns)), n_turns)
    place = np.arange(len(dialog)) - offsets[dialog]
    draw = chance.uniform("untold", 0, (len(unasked),))
    wishes = np.zeros(draw.shape, dtype=bool)
    for concept in np.flatnonzero(unasked).tolist():
        first, turns = n_turns.copy(), np.flatnonzero(mentioned[:, concept])
        np.minimum.at(first, dialog[turns], place[turns])
        tells = np.bincount(dialog[turns], minlength=len(n_turns)) > 0
        wishes[:, concept] = ~tells & (draw[:, concept] < wish_untold(first, tells))
    return wishes


def wish_if_asked(n_dialogs: int, dialog: Ints, asked: Ints, told: Bools, may_want: Floats) -> Floats:
    """(n_dialogs, n_concepts) the probability that the caller wants something of a concept when asked for it.

    It differs from 0 where the caller was never asked and seems not to want it: it is the share of those who
    want it among the callers who were asked before they had told, heard or not. Arguments as above.
    may_want (n_dialogs, n_concepts): see `wish_probabilities`.
    """
    probability = np.zeros_like(may_want)
    for concept in range(may_want.shape[1]):
        turns = (asked == concept) & ~told[:, concept]
        was_asked = np.bincount(dialog[turns], minlength=n_dialogs) > 0
        unknown = ~was_asked & (may_want[:, concept] == 0.0)
        if was_asked.any():
            probability[unknown, concept] = may_want[was_asked, concept].mean()
    return probability


def _share(flags: Bools, among: Bools) -> float:
    return float(flags[among].mean()) if among.any() else 0.0
