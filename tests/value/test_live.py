"""Live values: what is played and paid, by hand; and the same callers for everybody."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from extrinsic.errors import UsageError
from extrinsic.policy.rewards import Reward, fill_of, returns
from extrinsic.registry import TRACKERS
from extrinsic.simulation import Expert, play
from extrinsic.simulation.datasets import find_simulation, logged_policy
from extrinsic.value.estimator import EvaluationProblem, LivePlay
from extrinsic.value.live import played_together
from extrinsic.value.value import Value
from tests.policy.decisions import drawn_decisions
from tests.simulation.worlds import Anything, world
from tests.value.tables import find

WORLD = world()
FOCUS = TRACKERS.get("focus")


def live(stage: LivePlay) -> Value:
    """The logged decisions do not matter."""
    log = drawn_decisions(3)
    return find("live").estimate(EvaluationProblem(log, np.full((len(log), 3), 1 / 3), stage=stage))


def stage(policy: Any = None, **changed: Any) -> LivePlay:
    return replace(LivePlay(policy or Expert(WORLD.expert), FOCUS, WORLD, 80, 7), **changed)


@pytest.mark.parametrize("reward", [None, Reward(when="terminal", turn=-5.0)], ids=["default", "own"])
def test_by_hand(reward: Reward | None) -> None:
    found = live(stage(reward=reward))
    rule = Reward.of(WORLD.domain) if reward is None else reward
    played = play(Expert(WORLD.expert), FOCUS, 80, 7, WORLD, fill=fill_of(rule))
    earned = returns(played.corpus, rule(played.corpus, played.output))
    assert found.mean == pytest.approx(earned.mean(), abs=1e-9)
    assert (found.estimator, found.n) == ("live", 80)
    assert found.diagnostics == {"success": played.completed.mean(), "turns": played.corpus.n_turns / 80}
    assert found.influence == pytest.approx((earned - earned.mean()) / 80)
    assert found.high - found.low == pytest.approx(2 * 1.96 * earned.std() / np.sqrt(80), rel=0.15)


@pytest.mark.parametrize(
    "names", [["focus"], ["delayed(hwu, turns=1)"], ["focus", "delayed(hwu, turns=1)", "vote", "baseline"]]
)
def test_together_policies_earn_what_each_earns_alone(names: list[str]) -> None:
    """To the last bit, in the order given, each on its own tracker and by its own reward."""
    policies = [Anything(), Expert(WORLD.expert), Anything(), Expert(WORLD.expert)]
    rules = ["argmax", "argmax", "threshold", "threshold"]
    plays = [
        stage(policy, tracker=tracker, reward=Reward.of(WORLD.domain, fill=rule))
        for tracker in map(TRACKERS.get, names)
        for policy, rule in zip(policies, rules, strict=True)
    ]
    require_same(plays)


def test_together_where_callers_ask_for_something() -> None:
    """Focus and baseline follow requests by rules of their own."""
    town = find_simulation("restaurants", None, 11).world("noisy", "test")
    expert, _ = logged_policy(town)
    trackers = map(TRACKERS.get, ["focus", "baseline", "hwu"])
    require_same([LivePlay(expert, tracker, town, 60, 3) for tracker in trackers])  # type: ignore[arg-type]


def require_same(plays: list[LivePlay]) -> None:
    for alone, together in zip(map(live, plays), played_together(plays), strict=True):
        assert together.mean == alone.mean
        assert together.diagnostics == alone.diagnostics
        assert together.influence.tobytes() == alone.influence.tobytes()
        assert together.components["completed"].tobytes() == alone.components["completed"].tobytes()


def test_joint_hypotheses_need_one_rule() -> None:
    trackers = [FOCUS, TRACKERS.get("baseline")]
    with pytest.raises(UsageError, match="need one rule"):
        play(Anything(), trackers, 20, 7, WORLD)
    assert play(Anything(), trackers, 20, 7, WORLD, joint=False).corpus.n_dialogs == 20


def test_the_same_callers_for_every_policy() -> None:
    """Differences are less noisy than with others: callers are easy or hard for both."""
    expert, anything, others = (
        live(changed).influence
        for changed in (
            stage(n_dialogs=400),
            stage(Anything(), n_dialogs=400),
            stage(Anything(), n_dialogs=400, seed=8),
        )
    )
    assert np.corrcoef(expert, anything)[0, 1] > 0.1
    assert abs(np.corrcoef(expert, others)[0, 1]) < 0.15
    fewer = live(stage(n_dialogs=40))
    assert fewer.n == 40
