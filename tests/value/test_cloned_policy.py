"""A clone of the logged policy, in the world that is fitted to its logs."""

from __future__ import annotations

import numpy as np

from extrinsic.policy.reward import Reward
from extrinsic.registry import TRACKERS
from extrinsic.simulation.datasets import find_simulation, logged_policy
from extrinsic.simulation.fitted.fitted_world import fit_world
from extrinsic.simulation.play import play
from extrinsic.value.fitted_play import play_logged

N_DIALOGS = 1200


def test_a_clone_earns_what_the_logged_policy_earns() -> None:
    """Within the noise of 1,200 dialogs of either, and the clone's own error."""
    simulation = find_simulation("restaurants", None, 11)
    world = simulation.world("quiet", "test")
    expert, tracker = logged_policy(world)
    assert expert is not None and tracker is not None
    logs = [play(expert, tracker, 400, seed, world, joint=False).corpus for seed in (1, 2)]
    fitted = fit_world(logs)
    reward, stand_in = Reward.of(fitted.domain), TRACKERS.get(fitted.logs.tracker)
    by_expert, by_clone = (
        play_logged(fitted, N_DIALOGS, 3, *policy) for policy in ((expert, tracker), (None, None))
    )
    earned = [logged.returns(stand_in, reward) for logged in (by_expert, by_clone)]
    noise = np.hypot(*(returns.std() / np.sqrt(N_DIALOGS) for returns in earned))
    assert abs(earned[1].mean() - earned[0].mean()) < 2.0 * np.hypot(noise, by_clone.level_error)
    assert (by_expert.level_error, by_clone.is_clone) == (0.0, True)
