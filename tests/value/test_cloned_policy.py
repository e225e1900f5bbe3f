"""A clone of the logged policy, in the world that is fitted to its logs."""

from __future__ import annotations

import numpy as np
import pytest

from extrinsic.policy.reward import Reward
from extrinsic.registry import TRACKERS
from extrinsic.simulation.datasets import find_simulation, logged_policy
from extrinsic.simulation.fitted.fitted_world import fit_world
from extrinsic.simulation.play import play
from extrinsic.value.cloned_system import clone_system
from extrinsic.value.fitted_play import play_logged
from tests.real_data import needs_bus_calls, read_bus_calls

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


@needs_bus_calls
def test_a_clone_does_what_callers_tell_it_to() -> None:
    """After "the next bus", surely heard, the system of real calls offers one in 98 of 100 cases; states do
    not hold the command, so that a clone without it would ask for commands again in most of them."""
    world = fit_world([read_bus_calls("train3_plain_a"), read_bus_calls("train3_plain_b")])
    clone = clone_system(world)
    assert clone.world.reply_weights is not None
    offer, help_ = (world.domain.predicate_names.index(name) for name in ("offer", "help"))
    names, score = world.logs.turns.lists.replies()
    sequels = world.rules.sequels
    sure = (names == world.vocabulary.find("nextbus")) & (score > sequels.sure_from)
    (reply,) = np.unique(sequels.reply[sure])
    weights = clone.world.reply_weights[1, offer + 1, reply]
    assert weights[offer] > 1.5 and weights[help_] < 0.2
    played = play_logged(world, 900, 1).played.corpus
    shares = [
        np.mean(np.concatenate([log.predicate for log in logs]) == help_)
        for logs in (world.logs.corpora, (played,))
    ]
    assert shares[1] == pytest.approx(shares[0], abs=0.05)
