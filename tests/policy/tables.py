"""Markov decision processes small enough to be solved by hand: tables of counts, policies by enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import strategies as st

from extrinsic.arrays import Floats, Ints
from extrinsic.policy.transitions import END, Transitions
from tests.policy.decisions import decisions, states_of


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
