"""Transitions as d3rlpy's MDPDataset, and back; d3rlpy's discrete algorithms as policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extrinsic.arrays import Bools, Floats
from extrinsic.errors import UsageError
from extrinsic.policy.behaviour import Behaviour
from extrinsic.policy.flat_states import FlatStates, require_extra
from extrinsic.policy.states import States
from extrinsic.policy.transitions import END, Transitions


def mdp_dataset(transitions: Transitions, flat: FlatStates | None = None) -> Any:
    """A d3rlpy MDPDataset in single precision, as d3rlpy computes; flat: by default that of these states."""
    d3rlpy = require_extra("d3rlpy")
    rows = (flat or FlatStates.of(transitions.states))(transitions.states)
    return d3rlpy.dataset.MDPDataset(
        rows.astype(np.float32),
        transitions.action,
        transitions.reward.astype(np.float32),
        (transitions.next == END).astype(np.float32),
        action_space=d3rlpy.constants.ActionSpace.DISCRETE,
        action_size=len(transitions.actions),
    )


def transitions_of_mdp(
    dataset: Any, actions: Sequence[str] | None = None, names: Sequence[str] | None = None
) -> Transitions:
    """The episodes of an MDPDataset (or ReplayBuffer) with discrete actions.

    actions, names: of the actions and of the observations' numbers. An episode that timed out does not end,
    and is refused.
    """
    d3rlpy = require_extra("d3rlpy")
    info = dataset.dataset_info
    if info.action_space != d3rlpy.constants.ActionSpace.DISCRETE:
        raise UsageError("actions are not discrete", expected="DISCRETE", found=str(info.action_space))
    episodes = list(dataset.episodes)
    rows = np.concatenate([np.asarray(episode.observations, dtype=np.float64) for episode in episodes])
    if rows.ndim != 2:
        raise UsageError("observations are not rows of numbers", expected="(n, d)", found=str(rows.shape))
    lengths = [len(episode.rewards) for episode in episodes]
    ends = np.zeros(len(rows), dtype=bool)
    ends[np.cumsum(lengths) - 1] = [bool(episode.terminated) for episode in episodes]
    states: Any = rows
    if names is not None and np.isfinite(rows).all():
        states = States(rows, np.zeros((len(rows), 0), dtype=np.int64), tuple(names), ())
    return Transitions.from_arrays(
        states,
        np.concatenate([episode.actions for episode in episodes]).ravel().astype(np.int64),
        np.concatenate([episode.rewards for episode in episodes]).ravel(),
        np.repeat([f"{number:08}" for number in range(len(episodes))], lengths),
        actions=actions or [str(number) for number in range(info.action_size)],
        ends=ends,
    )


@dataclass(frozen=True, eq=False)
class D3rlpyPolicy:
    """A trained discrete algorithm of d3rlpy as a policy of states.

    It takes the action that the algorithm predicts; where that is not possible or not admitted by the filter
    of `behaviour`, the one of the highest value among those that are.
    """

    algorithm: Any
    flat: FlatStates
    n_actions: int
    behaviour: Behaviour | None = None

    @staticmethod
    def of(algorithm: Any, learned_from: Transitions, behaviour: Behaviour | None = None) -> D3rlpyPolicy:
        """learned_from: the transitions whose `mdp_dataset` the algorithm was trained on."""
        return D3rlpyPolicy(
            algorithm, FlatStates.of(learned_from.states), len(learned_from.actions), behaviour
        )

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        rows = self.flat(states).astype(np.float32)
        q = np.stack([self._values(rows, action) for action in range(self.n_actions)], axis=1)
        chosen = np.asarray(self.algorithm.predict(rows)).ravel().astype(np.int64)
        admitted = np.ones(q.shape, dtype=bool) if possible is None else possible
        if self.behaviour is not None:
            admitted = self.behaviour.choices(states, possible)[1]
        best = np.where(admitted, q, -np.inf).argmax(axis=1)
        taken = np.where(admitted[np.arange(len(rows)), chosen], chosen, best)
        return np.asarray(np.arange(self.n_actions) == taken[:, None], dtype=np.float64)

    def _values(self, rows: Any, action: int) -> Floats:
        taken = np.full(len(rows), action, dtype=np.int64)
        return np.asarray(self.algorithm.predict_value(rows, taken), dtype=np.float64)
