"""The Gymnasium environment: its own checker, and live play as the oracle of what it plays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the extra `gym` is not installed")
from gymnasium.utils.env_checker import check_env

from extrinsic.arrays import Floats
from extrinsic.policy.gymnasium_world import DIALOGS_AHEAD, DialogEnv, DialogVectorEnv
from extrinsic.policy.rewards import OutcomeReward, returns
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Moment, find_simulation, play
from extrinsic.simulation.chance import Chance

FOCUS = TRACKERS.get("focus")
N_ENVS = 12
REWARD = OutcomeReward(amount=10.0, turn=-0.5)


def world_of(kind: str) -> Any:
    simulation = find_simulation(kind)
    return simulation.world(*simulation.corpora()[-1])


class First:
    """The first act that is possible, or the last on even turns."""

    def probabilities(self, moment: Moment) -> Floats:
        columns = np.arange(moment.allowed.shape[1])
        even = (moment.history.turn % 2 == 0)[:, None]
        chosen = np.where(moment.allowed, np.where(even, columns, -columns), -1000).argmax(axis=1)
        return np.asarray(columns == chosen[:, None], dtype=np.float64)


@pytest.mark.parametrize("kind", ["bus", "restaurants"])
def test_gymnasium_finds_nothing_wrong(kind: str) -> None:
    check_env(DialogEnv(world_of(kind), FOCUS), skip_render_check=True)


@pytest.mark.parametrize("kind", ["bus", "restaurants"])
def test_it_plays_the_dialogs_of_live_play(kind: str) -> None:
    """The same callers and decisions give the same lengths and returns, dialog by dialog."""
    world = world_of(kind)
    environment = DialogVectorEnv(world, FOCUS, reward=REWARD, num_envs=N_ENVS)
    chance = Chance.of(DIALOGS_AHEAD * N_ENVS, "environment", 11, 0)
    played = play(First(), FOCUS, len(chance.key), chance, world)
    earned = returns(played.corpus, REWARD(played.corpus, played.output))
    expected = {
        (int(length) - 1, round(float(value), 9))
        for length, value in zip(np.diff(played.corpus.offsets), earned, strict=True)
    }
    observations, info = environment.reset(seed=11)
    turn, total = np.ones(N_ENVS, dtype=int), np.zeros(N_ENVS)
    ended, seen = np.zeros(N_ENVS, dtype=bool), []
    for _ in range(20):
        columns = np.arange(len(environment.actions))
        rank = np.where((turn % 2 == 0)[:, None], columns, -columns)
        actions = np.where(info["action_mask"], rank, -1000).argmax(axis=1)
        observations, reward, terminated, truncated, info = environment.step(actions)
        assert observations.shape == (N_ENVS, len(environment.columns))
        assert (reward[ended] == 0.0).all()
        assert (info["action"][~ended] == actions[~ended]).all()
        turn, total = np.where(ended, 1, turn + 1), np.where(ended, 0.0, total + reward)
        ended = terminated | truncated
        seen += [(int(turn[i]) - 1, round(float(total[i]), 9)) for i in np.flatnonzero(ended)]
    assert len(seen) > N_ENVS
    assert set(seen) <= expected


def test_seeds_and_impossible_actions() -> None:
    environment = DialogVectorEnv(world_of("restaurants"), FOCUS, num_envs=4)
    first, again, other = (environment.reset(seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    _, info = environment.reset(seed=1)
    welcome = environment.actions.index("welcome")
    *_, after = environment.step(np.full(4, welcome))
    assert (after["action"] == info["action_mask"].argmax(axis=1)).all()
