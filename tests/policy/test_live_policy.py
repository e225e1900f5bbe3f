"""Learned policies at the table: from simulated calls to live ones."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from extrinsic.arrays import Bools, Floats
from extrinsic.policy.features import States, find_features
from extrinsic.policy.imitation import SupervisedPolicy
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.kernel_lspi import KernelLearner, KernelLSPI, KernelPolicy, OneStep
from extrinsic.policy.learner import LivePolicy
from extrinsic.policy.rewards import Reward, returns
from extrinsic.policy.transitions import Transitions, transitions_of
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Expert, ExpertTracker, play, read_simulation
from extrinsic.trackers.track import track
from tests.policy.learning import learn
from tests.policy.players import Witness
from tests.simulation.worlds import world

FEATURES = find_features("compact")
N_DIALOGS = 300


@cache
def learned_from() -> Transitions:
    """What the expert did in DS4, as the focus tracker sees it."""
    ds4 = read_simulation().world("ds4")
    corpus = play(Expert(ds4.expert), ExpertTracker(), N_DIALOGS, 11, ds4).corpus
    return transitions_of(corpus, track(TRACKERS.get("focus"), corpus, "focus"), FEATURES)


@cache
def learned(learner: type[KernelLearner]) -> KernelPolicy:
    return learn(learned_from(), learner=learner)


@pytest.mark.parametrize("learner", [KernelLSPI, OneStep])
def test_a_learned_policy_plays(learner: type[KernelLearner]) -> None:
    policy = Witness(LivePolicy(FEATURES, learned(learner)), FEATURES)
    ds4 = read_simulation().world("ds4")
    played = play(policy, TRACKERS.get("focus"), N_DIALOGS, 12, ds4)
    chances = np.concatenate(policy.chances)
    assert len(chances) == played.corpus.n_turns - N_DIALOGS
    assert (np.sort(chances, axis=1)[:, -1] == 1.0).all()
    assert (chances.sum(axis=1) == 1.0).all()
    reward = Reward.of(played.corpus.domain)
    earned = returns(played.corpus, reward(played.corpus, played.output))
    low, high = reward.feasible(played.corpus.domain, 1, int(np.diff(played.corpus.offsets).max()))
    assert low <= earned.min() <= earned.max() <= high
    # No random walk: those who only ever ask, or hang up, earn far less.
    assert earned.mean() > learned_from().returns().mean() - 60
    assert learned(learner).zero_kernel_share(learned_from().states) < 0.05


@pytest.mark.parametrize("sampled", [False, True])
def test_a_supervised_policy_plays(sampled: bool) -> None:
    supervised = SupervisedPolicy(KernelLogistic().fit(learned_from()), sampled)
    policy = Witness(LivePolicy(FEATURES, supervised), FEATURES)
    played = play(policy, TRACKERS.get("focus"), 60, 3)
    chances = np.concatenate(policy.chances)
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(chances)))
    assert ((chances == 1.0).any(axis=1)).all() != sampled
    assert played.corpus.n_dialogs == 60


def test_what_is_allowed_reaches_the_policy() -> None:
    """Nobody could offer at the first decision if nothing was heard."""
    told: list[Bools] = []

    class Stubborn:
        """Does the first thing that is possible."""

        def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
            assert possible is not None and len(states) == len(possible)
            told.append(possible)
            return np.asarray(np.eye(possible.shape[1])[possible.argmax(axis=1)])

    policy = Witness(LivePolicy(FEATURES, Stubborn()), FEATURES)
    play(policy, TRACKERS.get("focus"), 30, 5, world())
    assert len(told) == len(policy.chances) > 0
    assert not np.concatenate(told).all()
