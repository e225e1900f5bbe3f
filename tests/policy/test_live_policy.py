"""Learned policies at the table: from simulated calls to live ones."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from extrinsic.arrays import Bools, Floats
from extrinsic.policy.ard_lspi import ArdLSPI
from extrinsic.policy.features import find_features
from extrinsic.policy.kernel_logistic import KernelLogistic
from extrinsic.policy.kernel_lspi import KernelLearner, KernelLSPI, KernelPolicy
from extrinsic.policy.live_policy import LivePolicy
from extrinsic.policy.one_step import OneStep
from extrinsic.policy.pessimistic_lspi import PessimisticLSPI
from extrinsic.policy.reward import Reward, returns
from extrinsic.policy.states import States
from extrinsic.policy.supervised import SupervisedPolicy
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


@pytest.mark.parametrize("learner", [KernelLSPI, OneStep, PessimisticLSPI, ArdLSPI])
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


class Stubborn:
    """Wants to do one thing, and does the first that is possible instead; remembers what it was told."""

    def __init__(self) -> None:
        self.possible: list[Bools] = []

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        assert possible is not None
        assert len(states) == len(possible)
        self.possible.append(possible)
        return np.asarray(np.eye(possible.shape[1])[possible.argmax(axis=1)])


def test_what_is_allowed_reaches_the_policy() -> None:
    """Nobody could offer at the first decision if nothing was heard."""
    inner = Stubborn()
    policy = Witness(LivePolicy(FEATURES, inner), FEATURES)
    play(policy, TRACKERS.get("focus"), 30, 5, world())
    assert len(inner.possible) == len(policy.chances) > 0
    assert not np.concatenate(inner.possible).all()
