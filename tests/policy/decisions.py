"""Decisions made up for tests: plain columns, known policies, processes small enough to be solved by hand."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from extrinsic.arrays import Floats, Ints
from extrinsic.policy.behaviour import Behaviour, fit_behaviour
from extrinsic.policy.features import States
from extrinsic.policy.kernel_lspi import KernelLearner, KernelLSPI, KernelPolicy
from extrinsic.policy.learner import StatePolicy
from extrinsic.policy.transitions import END, Transitions
from extrinsic.registry import BEHAVIOURS


def states_of(continuous: Any, discrete: Any) -> States:
    continuous, discrete = np.asarray(continuous, dtype=np.float64), np.asarray(discrete, dtype=np.int64)
    return States(
        continuous,
        discrete,
        tuple(f"x{i}" for i in range(continuous.shape[1])),
        tuple(f"sign{i}" for i in range(discrete.shape[1])),
    )


def decisions(
    states: States,
    action: Any,
    reward: Any,
    dialog: Any,
    n_actions: int,
    propensities: Floats | None = None,
    sessions: tuple[str, ...] | None = None,
) -> Transitions:
    """Dialogs one after the other; dialog (n,): 0, 0, 1, ..."""
    action, dialog = np.asarray(action, dtype=np.int64), np.asarray(dialog, dtype=np.int64)
    follows = np.append(dialog[1:] == dialog[:-1], False)
    begins = np.flatnonzero(np.diff(dialog, prepend=-1))
    n_dialogs = int(dialog[-1]) + 1
    return Transitions(
        states=states,
        action=action,
        reward=np.asarray(reward, dtype=np.float64),
        next=np.where(follows, np.arange(len(action)) + 1, END),
        dialog=dialog,
        turn=np.arange(len(action)) - begins[dialog] + 1,
        propensities=np.full((len(action), n_actions), np.nan) if propensities is None else propensities,
        actions=tuple(f"act{i}" for i in range(n_actions)),
        sessions=sessions or tuple(f"call-{i:05}" for i in range(n_dialogs)),
    )


def assert_same_transitions(first: Transitions, second: Transitions) -> None:
    """In everything but where they come from."""
    for field in fields(Transitions):
        old, new = getattr(first, field.name), getattr(second, field.name)
        if isinstance(old, States):
            assert old.continuous.tobytes() == new.continuous.tobytes()
            assert np.array_equal(old.discrete, new.discrete)
            assert (old.continuous_names, old.discrete_names) == (new.continuous_names, new.discrete_names)
        elif isinstance(old, np.ndarray):
            assert np.array_equal(old, new, equal_nan=old.dtype.kind == "f"), field.name
        elif field.name != "source":
            assert old == new, field.name


def known_chances(states: States, n_actions: int) -> Floats:
    """(n, n_actions) a policy that depends on the first number and the first sign."""
    slope = np.linspace(-3.0, 3.0, n_actions)
    sign = np.where(states.discrete[:, :1] == 0, 1.0, -1.0)
    odds = np.exp(sign * states.continuous[:, :1] * slope)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def drawn_decisions(n_dialogs: int, n_actions: int = 3, length: int = 5, seed: int = 0) -> Transitions:
    """Actions drawn by `known_chances`, logged; the reward is high for one action, depending on the sign."""
    rng = np.random.default_rng(seed)
    n_rows = n_dialogs * length
    states = states_of(rng.uniform(-1, 1, (n_rows, 2)), rng.integers(0, 2, (n_rows, 2)))
    chances = known_chances(states, n_actions)
    action = draw(chances, rng)
    reward = np.where(action == states.discrete[:, 1], 10.0, -5.0) + rng.normal(0, 1, n_rows)
    dialog = np.repeat(np.arange(n_dialogs), length)
    return decisions(states, action, reward, dialog, n_actions, chances)


def draw(chances: Floats, rng: np.random.Generator) -> Ints:
    return np.asarray((np.cumsum(chances, axis=1) < rng.random(len(chances))[:, None]).sum(axis=1))


def draw_walks(
    goes: Floats, mean: Floats, chances: Floats, state: Ints, rng: np.random.Generator, noise: float = 1.0
) -> Transitions:
    """Dialogs through a table, each from its own state; the chances of actions are logged.

    goes: (state, action, state), with what is left a dialog ends; mean reward and chances (state, action).
    States are signs; the one number says nothing.
    """
    n_states, n_actions = mean.shape
    dialog = np.arange(len(state))
    parts: list[tuple[Ints, Ints, Ints, Ints]] = []
    while len(dialog):
        action = draw(chances[state], rng)
        parts.append((dialog, np.full(len(dialog), len(parts)), state, action))
        after = draw(np.column_stack([goes[state, action], 1.0 - goes[state, action].sum(axis=1)]), rng)
        dialog, state = dialog[after < n_states], after[after < n_states]
    dialog, place, state, action = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((place, dialog))
    dialog, state, action = dialog[order], state[order], action[order]
    states = states_of(np.full((len(state), 1), 0.5), state[:, None])
    reward = mean[state, action] + noise * rng.normal(size=len(state))
    return decisions(states, action, reward, dialog, n_actions, chances[state])


@dataclass(frozen=True)
class TableModel:
    """P(a | s) as they are, (n_states, n_actions); states are told apart by their first sign."""

    chances: Floats

    def probabilities(self, states: States) -> Floats:
        return np.asarray(self.chances[states.discrete[:, 0]])


def behaviour_of(
    log: Transitions, behaviour: str = "logistic", threshold: float = 0.1, chances: Floats | None = None
) -> Behaviour:
    """The behaviour model of a name, fitted; chances: what it says of the log's own states, if given."""
    model = BEHAVIOURS.get(behaviour)()
    if chances is None:
        return fit_behaviour(model, log, threshold)
    return Behaviour(chances, model.fit(log), threshold)


def learn(
    log: Transitions,
    behaviour: str = "logistic",
    threshold: float = 0.1,
    chances: Floats | None = None,
    learner: type[KernelLearner] = KernelLSPI,
    **options: Any,
) -> KernelPolicy:
    return learner(**options).fit(log, behaviour_of(log, behaviour, threshold, chances))


def act(policy: StatePolicy, states: States) -> Ints:
    """(n,) the likeliest action of each state."""
    return np.asarray(policy.probabilities(states).argmax(axis=1))


@dataclass(frozen=True)
class Episodes:
    """Logged episodes of a table: dialog, state, action, reward (n,)."""

    n_states: int
    n_actions: int
    dialog: Ints
    state: Ints
    action: Ints
    reward: Floats

    def transitions(self) -> Transitions:
        """States as signs, with one number that is always the same; one action more that nobody ever took."""
        states = states_of(np.full((len(self.state), 1), 0.25), self.state[:, None])
        return decisions(states, self.action, self.reward, self.dialog, self.n_actions + 1)

    def chances(self) -> Floats:
        """(n, n_actions + 1) how often each action was taken in the state."""
        counts = np.zeros((self.n_states, self.n_actions + 1))
        np.add.at(counts, (self.state, self.action), 1.0)
        return np.asarray((counts / counts.sum(axis=1, keepdims=True))[self.state])

    def mean_reward(self) -> Floats:
        """(n_states * n_actions,)"""
        pair = self._pair()
        return np.bincount(pair, self.reward, self.n_pairs) / np.bincount(pair, minlength=self.n_pairs)

    @property
    def n_pairs(self) -> int:
        return self.n_states * self.n_actions

    def _pair(self) -> Ints:
        return self.state * self.n_actions + self.action

    def follows(self, policy: tuple[int, ...] | None) -> Floats:
        """(n_pairs, n_pairs) how often a pair came after a pair, by the actions taken or a policy."""
        pair, counts = self._pair(), np.zeros((self.n_pairs, self.n_pairs))
        for row, after in enumerate(self.transitions().next.tolist()):
            if after != END:
                action = self.action[after] if policy is None else policy[self.state[after]]
                counts[pair[row], self.state[after] * self.n_actions + action] += 1
        return np.asarray(counts / np.bincount(pair, minlength=self.n_pairs)[:, None])

    def closed_form(self, gamma: float, policy: tuple[int, ...] | None = None) -> Floats:
        """(n_states, n_actions) Q = (I - gamma P)^-1 r of what was counted."""
        system = np.eye(self.n_pairs) - gamma * self.follows(policy)
        return np.linalg.solve(system, self.mean_reward()).reshape(self.n_states, self.n_actions)

    def best_by_enumeration(self, gamma: float) -> Floats:
        """(n_states, n_actions) the highest Q that any of all policies has."""
        policies = product(range(self.n_actions), repeat=self.n_states)
        return np.asarray(np.max([self.closed_form(gamma, policy) for policy in policies], axis=0))


@st.composite
def episodes(draw: st.DrawFn, deterministic: bool) -> Episodes:
    """Walks through a random table; besides, every action was once taken in every state as the last one, so
    that no policy goes on for ever."""
    n_states, n_actions = draw(st.integers(2, 4)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mean = rng.integers(-20, 20, (n_states, n_actions)).astype(float)
    goes = rng.dirichlet(np.full(n_states + 1, 0.7), (n_states, n_actions))
    if deterministic:
        goes = (goes == goes.max(axis=2, keepdims=True)).astype(float)
    rows: list[tuple[int, int, int, float]] = []
    walks = [(state, action, 1) for state in range(n_states) for action in range(n_actions)]
    walks += [(int(rng.integers(n_states)), int(rng.integers(n_actions)), 12) for _ in range(20)]
    for dialog, (state, action, longest) in enumerate(walks):
        for _ in range(longest):
            noise = 0.0 if deterministic else float(rng.normal())
            rows.append((dialog, state, action, mean[state, action] + noise))
            state = int(rng.choice(n_states + 1, p=goes[state, action]))
            if state == n_states:
                break
            action = int(rng.integers(n_actions))
    dialog, state, action, reward = (np.array(column) for column in zip(*rows, strict=True))
    return Episodes(n_states, n_actions, dialog, state, action, reward)
