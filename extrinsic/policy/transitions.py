"""Transitions: decisions with their rewards and next decisions, the data that policies learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.dialogs import ranked_sessions
from extrinsic.corpus.model import Corpus
from extrinsic.corpus.tracker_output import TrackerOutput
from extrinsic.errors import Problems, UsageError
from extrinsic.notebook import html_table
from extrinsic.policy.decisions import (
    decision_observations,
    decision_turns,
    require_possible,
    require_predicates,
)
from extrinsic.policy.features import Features, find_features
from extrinsic.policy.reward import Reward, RewardFunction, is_decision
from extrinsic.policy.source import NOWHERE, Source, hash_of_domain, plain_config
from extrinsic.policy.states import States
from extrinsic.policy.transition_checks import DecisionColumns, Place, check_decisions
from extrinsic.registry import REWARDS

END = -1
"""The next decision after the last one of a dialog."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """n decisions, dialog by dialog, in an order that depends only on the session ids.

    states: before each decision.   action (n,): the predicate, an index into `actions`.
    reward (n,): earned between it and the next one.   next (n,): the next decision, END for none.
    dialog (n,): 0, 1, ... in order of the session ids.   turn (n,): of the corpus, within its dialog.
    propensities (n, n_actions): the system's probability of each action, NaN where not logged.
    feasible: the lowest and highest return a dialog can have (None for a custom reward).
    possible (n, n_actions): what could be done, by the log; None if it does not say, and all could.
    source: what they were made of.
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
    source: Source = NOWHERE

    @staticmethod
    def from_arrays(
        states: States | npt.ArrayLike,
        action: npt.ArrayLike,
        reward: npt.ArrayLike,
        dialog: npt.ArrayLike,
        *,
        actions: Sequence[str],
        turn: npt.ArrayLike | None = None,
        propensities: npt.ArrayLike | None = None,
        possible: npt.ArrayLike | None = None,
        ends: npt.ArrayLike | None = None,
        feasible: tuple[float, float] | None = None,
        source: Source | None = None,
        place: Place | None = None,
    ) -> Transitions:
        """Decisions from arrays, checked; InputError with every problem.

        states: States, or (n, d) numbers.   action (n,): names or indices of `actions`.   reward (n,).
        dialog (n,): ids; the decisions of a dialog follow one another, in order.   turn (n,): 0, 1, ...
        propensities: (n,) of the actions taken, or (n, n_actions) of all.   possible (n, n_actions).
        ends (n,): whether a dialog ends there; without it every dialog ends at its last decision.
        place: where a decision is, for messages.
        """
        given = states if isinstance(states, States) else None
        problems = Problems()
        columns = DecisionColumns.of(
            states.continuous if isinstance(states, States) else states,
            given.continuous_names if given is not None else None,
            action,
            actions,
            problems,
            reward=reward,
            dialog=dialog,
            turn=turn,
            propensities=propensities,
            possible=possible,
            ends=ends,
        )
        check_decisions(columns, problems, place)
        problems.raise_errors()
        return _in_order(columns, given, feasible, source or NOWHERE)

    def __repr__(self) -> str:
        return (
            f"<Transitions: {len(self):,} decisions of {self.n_dialogs:,} dialogs, "
            f"{self.states.continuous.shape[1]} + {self.states.discrete.shape[1]} features, "
            f"{len(self.actions)} actions>"
        )

    def _repr_html_(self) -> str:
        rows = [
            {
                "action": name,
                "decisions": int((self.action == number).sum()),
                "share": float((self.action == number).mean()),
            }
            for number, name in enumerate(self.actions)
        ]
        mean = f"{self.returns().mean():.2f} a dialog on average"
        return html_table(f"{repr(self).strip('<>')}; {mean}", rows)

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

    def by_turn(self, column: Floats, fill: float = 0.0) -> Floats:
        """(n_dialogs, longest) a column of decisions arranged by dialog and position in it."""
        table = np.full((self.n_dialogs, int(self._position.max()) + 1), fill)
        table[self.dialog, self._position] = column
        return table

    def returns_to_go(self) -> Floats:
        """(n,) what each dialog earned from this decision on."""
        to_go = np.cumsum(self.by_turn(self.reward)[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(to_go[self.dialog, self._position])

    @property
    def _position(self) -> Ints:
        """(n,) 0 for the first decision of its dialog, and so on."""
        return np.asarray(np.arange(len(self)) - np.flatnonzero(self.first)[self.dialog])

    def take_share(self, share: float) -> Transitions:
        """Of a share of the dialogs, at least one; a smaller share is part of a larger one."""
        if share == 1.0:
            return self
        n_dialogs = max(1, round(share * self.n_dialogs))
        return self.take_dialogs(np.sort(ranked_sessions(self.sessions, 0)[:n_dialogs]))

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


def _in_order(
    columns: DecisionColumns, states: States | None, feasible: tuple[float, float] | None, source: Source
) -> Transitions:
    """Checked columns as transitions, in the order of the dialogs' ids."""
    rows = np.argsort(columns.dialog, kind="stable")
    sessions, dialog = np.unique(columns.dialog, return_inverse=True)
    n_rows, dialog = len(rows), dialog[rows]
    if states is None:
        states = States(columns.continuous, np.zeros((n_rows, 0), dtype=np.int64), columns.names, ())
    propensities = columns.propensities
    if propensities is None:
        propensities = np.full((n_rows, len(columns.actions)), np.nan)
    follows = np.append(dialog[1:] == dialog[:-1], False)
    return Transitions(
        states=states.take(rows),
        action=columns.action[rows],
        reward=columns.reward[rows],
        next=np.where(follows, np.arange(n_rows) + 1, END),
        dialog=dialog,
        turn=columns.turn[rows],
        propensities=propensities[rows],
        actions=columns.actions,
        sessions=tuple(map(str, sessions.tolist())),
        feasible=feasible,
        possible=None if columns.possible is None else columns.possible[rows],
        source=source,
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
    require_predicates(corpus, decides)
    require_possible(corpus, decides)
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
        source=Source(
            features=chosen.blocks,
            conditions=chosen.conditions,
            domain=corpus.domain.name,
            domain_hash=hash_of_domain(corpus.domain),
            tracker=output.name,
            dataset=corpus.dataset,
            corpus=corpus.signature,
            reward=plain_config(REWARDS, reward),
        ),
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


def _feasible(corpus: Corpus, reward: RewardFunction, lengths: Ints) -> tuple[float, float] | None:
    feasible = getattr(reward, "feasible", None)
    bounds: tuple[float, float] | None = feasible and feasible(corpus.domain, 1, int(lengths.max()))
    return bounds


def _until_next(corpus: Corpus, earned: Floats, decides: Bools) -> Floats:
    """(n_turns,) at each decision, the sum of the rewards from there up to the next one (or the end)."""
    decision = np.cumsum(decides) - 1
    first = np.append(np.flatnonzero(decides), corpus.n_turns)[decision]
    belongs = (decision >= 0) & (first >= corpus.offsets[corpus.dialog_of_turn])
    total = np.zeros(corpus.n_turns)
    total[decides] = np.bincount(decision[belongs], earned[belongs], int(decides.sum()))
    return total
