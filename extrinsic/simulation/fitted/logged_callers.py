"""The callers of logs: what they want, by the labels, and how badly they are heard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from extrinsic.arrays import Bools, Floats, Ids, Ints
from extrinsic.corpus.labels import GoalLabels, LabelEvents
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.vocabulary import NONE
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.fitted.coded_acts import RIGHT, Lists
from extrinsic.simulation.fitted.logged_values import LoggedValues
from extrinsic.simulation.utterance import NOTHING

LEAST_ALIKE, MOST_ALIKE = 0.5, 200.0
"""Between these, how alike callers are in how badly they are heard: a + b of a beta distribution."""

N_LEVELS = 50
"""How finely the levels of callers are told apart."""

CLEARLY_LIKELIER = 1.92
"""In logarithms: half of the 95 % quantile of chi-square with one degree of freedom."""


@dataclass(frozen=True, eq=False)
class LoggedCallers:
    """The callers of n dialogs.

    goal (n, n_concepts): the value wanted, NOTHING if none was labelled.
    answered (n, n_concepts): whether it was first told in answer to a question.
    later (n, n_concepts): the one that the caller changed to, NOTHING for no change.
    wanted (n, n_concepts): whether the concept matters, also where no right value was ever heard.
    indifferent (n, n_concepts): whether any value of it will do.
    wishes (n, n_requestable): the facts asked for.   pleased (n,): was ever made a right offer, so that
    whoever wished to know more could ask.
    may_want (n, n_concepts): the probability that it does, also where nothing was heard of it.
    if_asked (n, n_concepts): the probability that who seems to want nothing does when asked.
    error (n, n_concepts + 1): how badly the caller is heard (`error_levels`).
    heard_apart: whether the callers of one log are clearly heard better than those of another.
    """

    goal: Ints
    answered: Bools
    later: Ints
    wanted: Bools
    indifferent: Bools
    may_want: Floats
    if_asked: Floats
    wishes: Bools
    pleased: Bools
    error: Floats
    heard_apart: bool


def goals_of(log: Corpus, values: LoggedValues) -> tuple[Ints, Ints]:
    """(n_dialogs, n_concepts) the value wanted first, and another one wanted at the end."""
    turn, slot, value = _labelled(log)
    number = values.number(slot, value)
    kept = number != NOTHING
    turn, number = turn[kept], number[kept]
    dialog, concept = log.dialog_of_turn[turn], values.concept[number]
    order = np.argsort(turn, kind="stable")
    first = np.full((log.n_dialogs, values.n_concepts), NOTHING, dtype=np.int64)
    last = first.copy()
    last[dialog[order], concept[order]] = number[order]
    if isinstance(log.labels, LabelEvents):
        return last, first
    _, earliest = np.unique(dialog[order] * values.n_concepts + concept[order], return_index=True)
    rows = order[earliest]
    first[dialog[rows], concept[rows]] = number[rows]
    return first, np.where(last == first, NOTHING, last)


def changes_of_goal(log: Corpus) -> Bools:
    """(n_turns,) whether the caller gives up a value for another one, by the labels."""
    changes = np.zeros(log.n_turns, dtype=bool)
    if isinstance(log.labels, GoalLabels):
        goal = log.labels.goal
        other = (goal[1:] != goal[:-1]) & (goal[1:] != NONE) & (goal[:-1] != NONE)
        changes[1:] = other.any(axis=1) & (log.turn_in_dialog[1:] > 0)
    return changes


def _labelled(log: Corpus) -> tuple[Ints, Ints, Ids]:
    """The turn, slot and value of everything labelled as right."""
    labels = log.labels
    if isinstance(labels, LabelEvents):
        return labels.turn[labels.correct], labels.slot[labels.correct], labels.value[labels.correct]
    turn, slot = np.nonzero(labels.goal != NONE)
    return turn.astype(np.int64), slot.astype(np.int64), labels.goal[turn, slot]


def wanted_by(log: Corpus, values: LoggedValues, goal: Ints, lists: Lists) -> Bools:
    """(n_dialogs, n_concepts) what matters to the caller.

    Labels of what was heard do not tell of a wish that never got through: what is required is wanted, and
    so is a concept of which something wrong was heard best.
    """
    wanted: Bools = np.asarray(goal != NOTHING)
    if isinstance(log.labels, GoalLabels):
        return wanted
    groups = enumerate(log.domain.groups)
    wanted[:, [number for number, group in groups if group in log.domain.required]] = True
    best = lists.best_phrases
    turn = lists.turn_of_hypothesis[lists.acts.owner[best]]
    wanted[log.dialog_of_turn[turn], lists.acts.about[best]] = True
    return wanted


def wishes_of(log: Corpus) -> Bools:
    """(n_dialogs, n_requestable) the facts that the caller ever asked for."""
    if not isinstance(log.labels, GoalLabels) or not log.requestable:
        return np.zeros((log.n_dialogs, len(log.requestable)), dtype=bool)
    wishes: Bools = np.logical_or.reduceat(log.labels.requested, log.offsets[:-1], axis=0)
    return wishes


@dataclass(frozen=True, eq=False)
class WrongTurns:
    """wrong, heard (n_dialogs, n_concepts + 1): in how many turns the best hypothesis has a wrong value, and
    any value, of each concept; in the last column of some concept.
    score, squared (n_dialogs, 2): the sums of the scores where it has no wrong value, and where it has, and
    of their squares.
    log (n_dialogs,): the number of it."""

    wrong: Ints
    heard: Ints
    score: Floats
    squared: Floats
    log: Ints

    def surplus(self) -> tuple[Floats, float]:
        """(n_dialogs,) the mean score of a caller, less that of as many right and wrong turns of all callers;
        and the variance of such scores within callers."""
        turns = np.stack([self.heard[:, -1] - self.wrong[:, -1], self.wrong[:, -1]], axis=1)
        usual = self.score.sum(axis=0) / np.maximum(turns.sum(axis=0), 1)
        n_turns = np.maximum(self.heard[:, -1], 1)
        mean = (self.score - turns * usual).sum(axis=1) / n_turns
        squares = (self.squared - 2.0 * usual * self.score + turns * usual**2).sum() - np.sum(
            n_turns * mean**2
        )
        return mean, float(max(squares, 0.0) / max(int((n_turns - 1).sum()), 1))

    @staticmethod
    def joined(parts: Sequence[WrongTurns]) -> WrongTurns:
        return WrongTurns(
            np.concatenate([part.wrong for part in parts]),
            np.concatenate([part.heard for part in parts]),
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.squared for part in parts]),
            np.concatenate([part.log + number for number, part in enumerate(parts)]),
        )


def wrong_turns(log: Corpus, lists: Lists, n_concepts: int) -> WrongTurns:
    """How often each caller is heard wrongly, and how surely."""
    best = lists.best_phrases
    turn, concept = lists.turn_of_hypothesis[lists.acts.owner[best]], lists.acts.about[best]

    def turns_with(phrases: Bools | slice) -> Ints:
        has = np.zeros((log.n_turns, n_concepts + 1), dtype=np.int64)
        has[turn[phrases], concept[phrases]] = has[turn[phrases], -1] = 1
        return has

    wrong, heard = turns_with(lists.acts.code[best] != RIGHT), turns_with(slice(None))
    score = np.zeros((log.n_turns, 2))
    turns = np.flatnonzero(heard[:, -1])
    score[turns, wrong[turns, -1]] = lists.score[lists.offsets[turns]]

    def per_dialog(table: np.ndarray) -> np.ndarray:
        return np.asarray(np.add.reduceat(table, log.offsets[:-1], axis=0))

    only_log = np.zeros(log.n_dialogs, dtype=np.int64)
    return WrongTurns(per_dialog(wrong), per_dialog(heard), per_dialog(score), per_dialog(score**2), only_log)


def error_levels(counts: WrongTurns) -> tuple[Floats, bool]:
    """(n, n_concepts + 1) how badly each caller is heard, of each concept and on the whole; and whether the
    logs clearly differ in that.

    Levels are drawn from what is known of a caller.

    With w_i wrong turns of n_i and levels e_i ~ Beta(a, b), w_i ~ Binomial(n_i, e_i), a and b are those of
    the highest likelihood, and the level of a caller is drawn from Beta(a + w_i, b + n_i - w_i), with what
    scores say of it (`drawn_levels`). Drawn levels vary between callers as much as true ones do; shares
    w_i / n_i vary more, and answers that were chosen by them would let a caller who was unlucky once be
    misheard for ever.
    A name that the recogniser does not know is misheard whoever says it: the level of a concept c is drawn
    in the same way from Beta(k e_i + w_ic, k (1 - e_i) + n_ic - w_ic), with the k of the highest likelihood.
    """
    from scipy.special import betaincinv

    chance = Chance.of(len(counts.wrong), "error levels")
    wrong, heard = counts.wrong[:, -1], counts.heard[:, -1]
    a, b = beta_of_levels(wrong, heard, counts.log)
    whole = drawn_levels(a, b, wrong, heard, *counts.surplus(), chance.uniform("level", 0))
    whole = np.clip(whole, 1e-3, 1.0 - 1e-3)
    levels = np.empty(counts.wrong.shape)
    levels[:, -1] = whole
    wrong, heard = counts.wrong[:, :-1], counts.heard[:, :-1]
    alike = likeness_of_concepts(wrong, heard, whole)
    draw = chance.uniform("concept", 0, (wrong.shape[1],))
    of_caller = alike * whole[:, None]
    levels[:, :-1] = betaincinv(of_caller + wrong, alike - of_caller + heard - wrong, draw)
    return levels, bool(np.ptp(a / (a + b)) > 0.0)


def drawn_levels(
    a: Floats, b: Floats, wrong: Ints, heard: Ints, surplus: Floats, within: float, draw: Floats
) -> Floats:
    """(n,) a level for each caller, drawn from what counts and scores say of it.

    Who is badly heard has lower scores, too, where the values are right as where they are wrong: with z_i the
    mean surplus of n_i turns, z_i ~ Normal(s (e_i - c_i), u + v / n_i), where c_i is the level that n_i turns
    with w_i wrong ones have on average, each for itself, and u is what callers differ by in scores alone. s
    is the slope of z_i on what the counts alone say of e_i, u what is left of the variance. Without this, a
    caller with low scores would be as well heard at the next turn as any other.
    surplus (n,): the z_i.   within: v.   draw (n,): in [0, 1).
    """
    level = (np.arange(N_LEVELS) + 0.5) / N_LEVELS
    weight = np.outer(a + wrong - 1.0, np.log(level)) + np.outer(b + heard - wrong - 1.0, np.log1p(-level))
    if within > 0.0:
        n_turns = np.maximum(heard, 1)
        alone = (a + np.where(heard > 0, wrong / n_turns, a / (a + b))) / (a + b + 1.0)
        mean = (a + wrong) / (a + b + heard)
        known = mean - alone
        slope = float(np.sum(heard * known * surplus) / max(np.sum(heard * known**2), 1e-12))
        unknown = mean * (1.0 - mean) / (a + b + heard + 1.0)
        left = surplus**2 - slope**2 * (known**2 + unknown) - within / n_turns
        between = max(float(np.average(left, weights=heard)), 0.0)
        gap = surplus[:, None] - slope * (level - alone[:, None])
        weight -= 0.5 * gap**2 * (heard / (within + between * n_turns))[:, None]
    share = np.exp(weight - weight.max(axis=1, keepdims=True))
    up_to = np.cumsum(share, axis=1)
    sought = draw * up_to[:, -1]
    cell = np.minimum((sought[:, None] >= up_to).sum(axis=1), N_LEVELS - 1)
    rows = np.arange(len(draw))
    part = (sought - (up_to[rows, cell] - share[rows, cell])) / share[rows, cell]
    return np.asarray((cell + np.clip(part, 0.0, 1.0)) / N_LEVELS)


def likeness_of_concepts(wrong: Ints, heard: Ints, whole: Floats) -> float:
    """How alike the concepts of a caller are: k of the beta-binomial with mean e_i, by highest likelihood.

    wrong, heard (n, n_concepts).   whole (n,): the levels e_i.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import betaln

    def loss(log_alike: float) -> float:
        a = np.exp(log_alike) * whole[:, None]
        b = np.exp(log_alike) - a
        return -float(np.sum(betaln(a + wrong, b + heard - wrong) - betaln(a, b)))

    bounds = (np.log(LEAST_ALIKE), np.log(MOST_ALIKE))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def beta_of_levels(wrong: Ints, heard: Ints, log: Ints) -> tuple[Floats, Floats]:
    """(n,) the parameters a, b of the beta-binomial distribution with the highest likelihood.

    Calls end by what is heard in them, which the likelihood allows and moments of the shares would not. Logs
    share a mean, unless one of their own for each is clearly likelier. a + b, which they share, stays between
    LEAST_ALIKE and MOST_ALIKE.   log (n,): the number of each caller's log.
    """
    from scipy.optimize import minimize
    from scipy.special import betaln, expit, logit

    def loss(parameters: Floats, of_log: Ints) -> float:
        mean, alike = expit(parameters[:-1])[of_log], np.exp(parameters[-1])
        a, b = mean * alike, (1.0 - mean) * alike
        return -float(np.sum(betaln(a + wrong, b + heard - wrong) - betaln(a, b)))

    fits = []
    for of_log in (np.zeros_like(log), log):
        start = np.append(
            logit((np.bincount(of_log, wrong) + 0.5) / (np.bincount(of_log, heard) + 1.0)), np.log(5.0)
        )
        bounds = [(-8.0, 8.0)] * (len(start) - 1) + [(np.log(LEAST_ALIKE), np.log(MOST_ALIKE))]
        fits.append((of_log, minimize(loss, start, (of_log,), method="L-BFGS-B", bounds=bounds)))
    apart = fits[0][1].fun - fits[1][1].fun > CLEARLY_LIKELIER
    of_log, fit = fits[int(apart)]
    mean, alike = expit(fit.x[:-1])[of_log], float(np.exp(fit.x[-1]))
    return mean * alike, (1.0 - mean) * alike
