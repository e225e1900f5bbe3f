"""Transitions: decisions with their rewards and next decisions, the data that policies learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import InputError, Problem, UsageError
from extrinsic.policy.features import Features, find_features
from extrinsic.policy.observations import BEFORE, Observations, observations_of_corpus
from extrinsic.policy.reward import Reward, RewardFunction, is_decision
from extrinsic.policy.states import States

END = -1
"""The next decision after the last one of a dialog."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """n decisions, dialog by dialog, in an order that depends only on the session ids.

    states: before each decision.   action (n,): the predicate, an index into `actions`.
    reward (n,): earned between it and the next one.   next (n,): the next decision, END for none.
    dialog (n,): 0, 1, ... in order of the session ids.   turn (n,): of the corpus, within its dialog.
    propensities (n, n_actions): the system's probability of each action, NaN where not logged.
    possible (n, n_actions): what could be done, by the log; None if it does not say, and all could.
    feasible: the lowest and highest return a dialog can have (None for a custom reward).
    """

    states: States
    action: Ints
    reward: Floats
    next: Ints
    dialog: Ints
    turn: Ints
    propensities: Floats
    actions: tuple[str, ...]
    sessions: tuple[str, ...]
    feasible: tuple[float, float] | None = None
    possible: Bools | None = None

    def __len__(self) -> int:
        return len(self.action)

    @property
    def n_dialogs(self) -> int:
        return len(self.sessions)

    @property
    def first(self) -> Bools:
        """(n,) whether it is the first decision of its dialog."""
        return np.asarray(np.diff(self.dialog, prepend=-1) > 0)

    @property
    def logged(self) -> Floats:
        """(n,) the propensity of the action taken."""
        return np.asarray(self.propensities[np.arange(len(self)), self.action])

    def returns(self) -> Floats:
        """(n_dialogs,) the undiscounted return of each dialog."""
        return np.bincount(self.dialog, self.reward, self.n_dialogs).astype(np.float64)

    def take_dialogs(self, dialogs: Ints) -> Transitions:
        """The transitions of the chosen dialogs (ascending), renumbered."""
        number = np.full(self.n_dialogs, -1, dtype=np.int64)
        number[dialogs] = np.arange(len(dialogs))
        rows = np.flatnonzero(number[self.dialog] >= 0)
        new_row = np.full(len(self) + 1, END, dtype=np.int64)
        new_row[rows] = np.arange(len(rows))
        return replace(
            self,
            states=self.states.take(rows),
            action=self.action[rows],
            reward=self.reward[rows],
            next=new_row[self.next[rows]],
            dialog=number[self.dialog[rows]],
            turn=self.turn[rows],
            propensities=self.propensities[rows],
            possible=None if self.possible is None else self.possible[rows],
            sessions=tuple(self.sessions[i] for i in dialogs),
        )


def transitions_of(
    corpus: Corpus,
    output: TrackerOutput,
    features: Features | str | Sequence[str] = "compact",
    reward: RewardFunction | None = None,
) -> Transitions:
    """The decisions of a corpus as seen through a tracker."""
    chosen = find_features(features)
    reward = Reward.of(corpus.domain) if reward is None else reward
    decides = is_decision(corpus)
    _require_predicates(corpus, decides)
    _require_possible(corpus, decides)
    turns = decision_turns(corpus)
    states = chosen(decision_observations(corpus, output))
    in_order = np.argsort(corpus.sessions, kind="stable")
    has_some = np.bincount(corpus.dialog_of_turn[turns], minlength=corpus.n_dialogs)[in_order] > 0
    rank = np.empty(corpus.n_dialogs, dtype=np.int64)
    rank[in_order] = np.cumsum(has_some) - 1
    dialog = rank[corpus.dialog_of_turn[turns]]
    follows = np.append(dialog[1:] == dialog[:-1], False)
    earned = _earned(corpus, output, reward)
    propensities = corpus.propensities
    if propensities is None:
        propensities = np.full((corpus.n_turns, len(corpus.domain.predicate_names)), np.nan)
    lengths = np.bincount(dialog)
    return Transitions(
        states=states,
        action=corpus.predicate[turns].astype(np.int64),
        reward=_until_next(corpus, earned, decides)[turns],
        next=np.where(follows, np.arange(len(turns)) + 1, END),
        dialog=dialog,
        turn=corpus.turn_in_dialog[turns],
        propensities=propensities[turns],
        actions=corpus.domain.predicate_names,
        sessions=tuple(corpus.sessions[i] for i in in_order[has_some]),
        feasible=_feasible(corpus, reward, lengths),
        possible=None if corpus.possible is None else corpus.possible[turns],
    )


def _earned(corpus: Corpus, output: TrackerOutput, reward: RewardFunction) -> Floats:
    """(n_turns,) the reward of each turn; validated, because it may be a custom one."""
    earned = np.asarray(reward(corpus, output), dtype=np.float64)
    if earned.shape != (corpus.n_turns,):
        raise UsageError(
            "a reward must give one number a turn", expected=f"({corpus.n_turns},)", found=str(earned.shape)
        )
    if not np.isfinite(earned).all():
        turn = int(np.flatnonzero(~np.isfinite(earned))[0])
        raise UsageError(
            "a reward must be a finite number",
            session=corpus.sessions[corpus.dialog_of_turn[turn]],
            turn=int(corpus.turn_in_dialog[turn]),
            found=str(earned[turn]),
        )
    return earned


def decision_turns(corpus: Corpus) -> Ints:
    """The turns that are decisions, in the order of the transitions made of them."""
    return _in_canonical_order(corpus, np.flatnonzero(is_decision(corpus)))


def decision_observations(corpus: Corpus, output: TrackerOutput) -> Observations:
    """The observations before every decision of a corpus, in the order of its transitions."""
    turns = decision_turns(corpus)
    seen = np.where(corpus.turn_in_dialog[turns] == 0, BEFORE, turns - 1)
    return observations_of_corpus(corpus, output, seen, corpus.dialog_of_turn[turns])


def _feasible(corpus: Corpus, reward: RewardFunction, lengths: Ints) -> tuple[float, float] | None:
    feasible = getattr(reward, "feasible", None)
    bounds: tuple[float, float] | None = feasible and feasible(corpus.domain, 1, int(lengths.max()))
    return bounds


def _require_predicates(corpus: Corpus, decides: Bools) -> None:
    """Raise InputError unless there are decisions and each has a predicate."""
    unmapped = np.flatnonzero(decides & (corpus.predicate < 0))
    if len(unmapped):
        raise InputError(_unmapped_problems(corpus, unmapped))
    if not decides.any():
        raise UsageError(f"the corpus {corpus.dataset!r} has no decisions: every system turn is a greeting")


def _require_possible(corpus: Corpus, decides: Bools) -> None:
    """Raise InputError where the log says that what was done was not possible."""
    if corpus.possible is None:
        return
    turns = np.flatnonzero(decides)
    names = corpus.domain.predicate_names
    impossible = turns[~corpus.possible[turns, corpus.predicate[turns]]]
    problems = [
        Problem(
            "what the system did is not among what the log calls possible",
            session=corpus.sessions[corpus.dialog_of_turn[turn]],
            turn=int(corpus.turn_in_dialog[turn]),
            expected=", ".join(names[column] for column in np.flatnonzero(corpus.possible[turn])),
            found=names[corpus.predicate[turn]],
        )
        for turn in impossible
    ]
    if problems:
        raise InputError(problems)


def _unmapped_problems(corpus: Corpus, turns: Ints) -> list[Problem]:
    acts = corpus.system
    kinds: dict[str, list[int]] = {}
    for turn in turns.tolist():
        names = acts.name[acts.offsets[turn] : acts.offsets[turn + 1]]
        kinds.setdefault(" + ".join(corpus.vocabulary.text(int(name)) for name in names), []).append(turn)
    problems = []
    for kind, rows in sorted(kinds.items(), key=lambda entry: -len(entry[1])):
        dialog = int(corpus.dialog_of_turn[rows[0]])
        problems.append(
            Problem(
                f"{len(rows):,} system turns with acts that {corpus.domain.name!r} maps to no predicate",
                session=corpus.sessions[dialog],
                turn=int(rows[0] - corpus.offsets[dialog]),
                expected=f"acts of {', '.join(corpus.domain.predicate_names)}",
                found=kind or "no acts at all",
            )
        )
    return problems


def _in_canonical_order(corpus: Corpus, turns: Ints) -> Ints:
    """Sorted by session id: sparsification depends on order, and a file's order must not matter."""
    rank = np.empty(corpus.n_dialogs, dtype=np.int64)
    rank[np.argsort(corpus.sessions, kind="stable")] = np.arange(corpus.n_dialogs)
    return turns[np.lexsort((turns, rank[corpus.dialog_of_turn[turns]]))]


def _until_next(corpus: Corpus, earned: Floats, decides: Bools) -> Floats:
    """(n_turns,) at each decision, the sum of the rewards from there up to the next one (or the end)."""
    decision = np.cumsum(decides) - 1
    first = np.append(np.flatnonzero(decides), corpus.n_turns)[decision]
    belongs = (decision >= 0) & (first >= corpus.offsets[corpus.dialog_of_turn])
    total = np.zeros(corpus.n_turns)
    total[decides] = np.bincount(decision[belongs], earned[belongs], int(decides.sum()))
    return total
