"""Gymnasium environments over any world and tracker, for people who bring their own reinforcement learning.

`pip install 'extrinsic[gym]'`. The agent sees the features of the tracker's beliefs and chooses a predicate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from extrinsic.arrays import Bools, Floats, Ints
from extrinsic.corpus.acts import NONE
from extrinsic.corpus.mentions import predicate_of_turns
from extrinsic.errors import UsageError
from extrinsic.policy.features import Features, find_features
from extrinsic.policy.observations import observations_of_view
from extrinsic.policy.rewards import OutcomeReward
from extrinsic.simulation.chance import Chance
from extrinsic.simulation.single_world import World, lockstep_form
from extrinsic.simulation.tracked_dialogs import TrackedDialogs
from extrinsic.simulation.world import (
    GOES_ON,
    Exchange,
    LockstepWorld,
    Moment,
    View,
    outcomes_of,
    possible_in,
    require_exchange,
)
from extrinsic.trackers.tracking import StepBelief, Tracker

DIALOGS_AHEAD = 8
"""For each environment, how many dialogs are begun at once."""

BOUND = 2.0**60
"""Of observations: no column is larger, not even a hash."""


class _Pool:
    """Dialogs begun at once, to be handed out one by one; belief: about each of them, after its last turn."""

    def __init__(self, world: LockstepWorld, tracker: Tracker, chance: Chance) -> None:
        n_dialogs = len(chance.key)
        self.world, self.dialogs = world, world.begin(chance)
        self.tracked = TrackedDialogs(world, (tracker,), n_dialogs)
        exchange = self.dialogs.greet()
        require_exchange("greet", exchange, n_dialogs, world)
        predicate = predicate_of_turns(world.domain, exchange.system, world.vocabulary).astype(np.int64)
        greeted = self._heard(np.arange(n_dialogs), exchange, predicate)
        self.belief = StepBelief(greeted.value.copy(), greeted.score.copy())  # written to after every turn
        self.waiting: list[int] = np.flatnonzero(exchange.ending == GOES_ON).tolist()
        if not self.waiting:
            raise UsageError("the world ends every dialog with the greeting: there is nothing to decide")

    def _heard(self, dialogs: Ints, exchange: Exchange, predicate: Ints) -> StepBelief:
        belief, _ = self.tracked.hear(dialogs, exchange.system, exchange.nbest, exchange.restart, predicate)
        return belief

    def view(self, dialogs: Ints, turn: Ints) -> View:
        return self.tracked.view(dialogs, turn, self.belief.take(dialogs), self.dialogs.conditions)

    def act(self, moment: Moment, actions: Ints) -> tuple[Ints, Bools]:
        """(m,) the predicates carried out, and which dialogs go on."""
        rows = np.arange(len(actions))
        chosen = np.where(moment.allowed[rows, actions], actions, moment.allowed.argmax(axis=1))
        certain = (np.arange(moment.allowed.shape[1]) == chosen[:, None]).astype(np.float64)
        predicate = self.dialogs.carried_out(moment, certain).argmax(axis=1)
        exchange = self.dialogs.act(moment, predicate)
        require_exchange("act", exchange, len(rows), self.world)
        belief, all_beliefs = self._heard(moment.dialogs, exchange, predicate), self.belief
        # Beliefs about different dialogs may have different widths.
        missing = belief.score.shape[2] - all_beliefs.score.shape[2]
        if missing > 0:
            wider = [(0, 0), (0, 0), (0, missing)]
            all_beliefs = StepBelief(np.pad(all_beliefs.value, wider), np.pad(all_beliefs.score, wider))
        all_beliefs.value[moment.dialogs], all_beliefs.score[moment.dialogs] = NONE, 0.0
        own = slice(belief.score.shape[2])
        all_beliefs.value[moment.dialogs, :, own] = belief.value
        all_beliefs.score[moment.dialogs, :, own] = belief.score
        self.belief = all_beliefs
        return predicate, exchange.ending == GOES_ON


class DialogVectorEnv(VectorEnv[Any, Any, Any]):
    """Many dialogs of a world at once; a tracker's beliefs are observed, a predicate is the action.

    Observations are the continuous and then the discrete columns of `features` (`columns` names them).
    Rewards are those of an OutcomeReward. `info["action_mask"]` (num_envs, n_actions) is what is possible; an
    action that is not is replaced by the first that is, and `info["action"]` is what was done. A dialog that
    ends is followed by a new one at the next step, whose action is ignored (AutoresetMode.NEXT_STEP).
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        world: World | LockstepWorld,
        tracker: Tracker,
        features: Features | str | Sequence[str] = "compact",
        reward: OutcomeReward | None = None,
        num_envs: int = 1,
    ) -> None:
        self.world, self.tracker = lockstep_form(world), tracker
        self.features, self.reward = find_features(features), reward or OutcomeReward()
        self.num_envs = num_envs
        self.actions = self.world.domain.predicate_names
        sample = _Pool(self.world, tracker, Chance.of(1, "columns"))
        self.columns = self.features(
            observations_of_view(sample.view(np.zeros(1, int), np.ones(1, int)))
        ).names
        self.single_observation_space = gymnasium.spaces.Box(-BOUND, BOUND, (len(self.columns),), np.float64)
        self.single_action_space = gymnasium.spaces.Discrete(len(self.actions))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin a dialog in every environment; the seed determines all callers from here on."""
        super().reset(seed=seed)
        self._number = int(self.np_random.integers(2**62)) if seed is None else seed
        self._n_pools = 0
        self._pool: list[_Pool] = [self._new_pool()] * self.num_envs
        self._dialog: Ints = np.zeros(self.num_envs, dtype=np.int64)
        self._turn: Ints = np.zeros(self.num_envs, dtype=np.int64)
        self._ended: Bools = np.ones(self.num_envs, dtype=bool)
        self._begin(np.arange(self.num_envs))
        observations, mask = self._observe()
        return observations, {"action_mask": mask}

    def step(self, actions: Any) -> tuple[Floats, Floats, Bools, Bools, dict[str, Any]]:
        """One turn of every dialog that goes on, the first one of those that begin."""
        actions = np.asarray(actions, dtype=np.int64)
        begins = np.flatnonzero(self._ended)
        reward, done = np.zeros(self.num_envs), np.full(self.num_envs, -1, dtype=np.int64)
        terminated, truncated = np.zeros((2, self.num_envs), dtype=bool)
        for pool, envs, moment in self._going:
            done[envs], goes_on = pool.act(moment, actions[envs])
            self._turn[envs] += 1
            terminated[envs] = ~goes_on
            truncated[envs] = goes_on & (self._turn[envs] >= self.world.longest_dialog)
            reward[envs] = self.reward.turn
            over = envs[terminated[envs] | truncated[envs]]
            if len(over):
                outcomes = outcomes_of(pool.dialogs, len(pool.tracked.method))
                reward[over] += self.reward.amount * self._outcome(outcomes)[self._dialog[over]]
        self._ended = terminated | truncated
        self._begin(begins)
        observations, mask = self._observe()
        return observations, reward, terminated, truncated, {"action_mask": mask, "action": done}

    def _outcome(self, outcomes: dict[str, Floats]) -> Floats:
        if self.reward.outcome not in outcomes:
            raise UsageError(
                f"the world has no outcome {self.reward.outcome!r}", expected=", ".join(outcomes)
            )
        return outcomes[self.reward.outcome]

    def _new_pool(self) -> _Pool:
        chance = Chance.of(DIALOGS_AHEAD * self.num_envs, "environment", self._number, self._n_pools)
        self._n_pools += 1
        self._newest = _Pool(self.world, self.tracker, chance)
        return self._newest

    def _begin(self, envs: Ints) -> None:
        """The next dialogs, in the given environments."""
        for env in envs.tolist():
            pool = self._newest if self._newest.waiting else self._new_pool()
            self._pool[env], self._dialog[env] = pool, pool.waiting.pop(0)
        self._turn[envs], self._ended[envs] = 1, False

    def _observe(self) -> tuple[Floats, Bools]:
        """(num_envs, n_columns) the observations, and (num_envs, n_actions) what is possible."""
        observations = np.zeros((self.num_envs, len(self.columns)))
        mask = np.ones((self.num_envs, len(self.actions)), dtype=bool)
        self._going: list[tuple[_Pool, Ints, Moment]] = []
        for pool in dict.fromkeys(self._pool):
            is_of_pool = np.array([other is pool for other in self._pool])
            envs = np.flatnonzero(is_of_pool)
            states = self.features(observations_of_view(pool.view(self._dialog[envs], self._turn[envs])))
            observations[envs] = np.concatenate([states.continuous, states.discrete], axis=1)
            envs = np.flatnonzero(is_of_pool & ~self._ended)
            if len(envs):
                view = pool.view(self._dialog[envs], self._turn[envs])
                mask[envs] = possible_in(pool.dialogs, view)
                self._going.append((pool, envs, view.moment(mask[envs])))
        return observations, mask


class DialogEnv(gymnasium.Env[Floats, np.int64]):
    """One dialog at a time: the same, for algorithms that want a single environment."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        world: World | LockstepWorld,
        tracker: Tracker,
        features: Features | str | Sequence[str] = "compact",
        reward: OutcomeReward | None = None,
    ) -> None:
        self.vector = DialogVectorEnv(world, tracker, features, reward)
        self.observation_space = self.vector.single_observation_space
        self.action_space = self.vector.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        observations, info = self.vector.reset(seed=int(self.np_random.integers(2**62)))
        return observations[0], {"action_mask": info["action_mask"][0].astype(np.int8)}

    def step(self, action: Any) -> Any:
        observations, reward, terminated, truncated, info = self.vector.step(np.array([action]))
        own = {"action_mask": info["action_mask"][0].astype(np.int8), "action": int(info["action"][0])}
        return observations[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), own
