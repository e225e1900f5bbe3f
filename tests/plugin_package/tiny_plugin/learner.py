"""A learner of one's own, found by its entry point: value iteration in the table that a log counts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.features import States
from extrinsic.policy.kernels import UNKNOWN, Blocks
from extrinsic.policy.learner import policy_of, require_choice
from extrinsic.policy.transitions import END
from extrinsic.typed_files import Count


@dataclass(frozen=True)
class Counted:
    """Q(s, a) = the mean of r + max_a' Q(s', a') over what followed a in s.

    steps: numbers of a state count as the same when they are, rounded to 1 / steps.   sweeps: iterations.
    What was never tried is worth the lowest return there was.
    """

    steps: Count = 2
    sweeps: Count = 50

    def fit(self, transitions, behaviour):
        require_choice(transitions)
        behaviour.require_about(transitions)
        cells, cell = Blocks.of(rounded(transitions.states, self.steps))
        n_actions = len(transitions.actions)
        pair, size = cell * n_actions + transitions.action, len(cells) * n_actions
        count = np.bincount(pair, minlength=size)
        lowest = transitions.returns().min()
        q = np.full(size, lowest)
        for _ in range(self.sweeps):
            value = np.where(behaviour.admitted, q.reshape(-1, n_actions)[cell], -np.inf).max(axis=1)
            after = np.where(transitions.next == END, 0.0, value[transitions.next])
            total = np.bincount(pair, transitions.reward + after, size)
            q = np.where(count > 0, total / np.maximum(count, 1), lowest)
        diagnostics = {"cells": len(cells), "lowest_q": float(q.min()), "highest_q": float(q.max())}
        table = np.vstack([q.reshape(-1, n_actions), np.full(n_actions, lowest)])
        no_states = transitions.states.take(np.zeros(0, dtype=int))
        return CountedPolicy(cells, table, self.steps, behaviour, no_states, diagnostics)


@dataclass(frozen=True, eq=False)
class CountedPolicy:
    """Greedy on q (n_cells + 1, n_actions), whose last row is for states that nobody has seen."""

    cells: Blocks
    q: np.ndarray
    steps: int
    behaviour: Behaviour
    learned_from: States
    diagnostics: Mapping[str, float]

    def probabilities(self, states, possible=None):
        states.require_like(self.learned_from)
        chances, admitted = self.behaviour.choices(states, possible)
        cell = self.cells.find(rounded(states, self.steps))
        q = self.q[np.where(cell == UNKNOWN, len(self.cells), cell)]
        return policy_of(np.where(admitted, q, -np.inf), chances, admitted)


def rounded(states, steps):
    """Signs and rounded numbers: what a state is told by."""
    numbers = np.rint(states.continuous * steps).astype(np.int64)
    return np.concatenate([states.discrete, numbers], axis=1)
