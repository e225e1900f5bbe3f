"""The true value, where there is a simulator: the policy played against callers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.policy.reward import Reward, RewardFunction, fill_of, returns
from extrinsic.simulation.play import Play, play
from extrinsic.simulation.single_world import World, lockstep_form
from extrinsic.simulation.world import LockstepWorld, Policy
from extrinsic.value.result import ResampledOver, Value, mean_of_dialogs, value_of

if TYPE_CHECKING:
    from extrinsic.corpus.tracking import Tracker
    from extrinsic.value.evaluation_problem import EvaluationProblem


LIVE, COMPLETED = "live", "completed"
"""The return of live play; and in place of an estimator, the share of its callers who reached their goal."""

CALLERS: ResampledOver = "callers"


@dataclass(frozen=True, eq=False)
class LivePlay:
    """Where and how a policy is played: the same `seed` gives the same callers for every policy.

    Where the reward has a fill rule, the system offers what counts as filled and nothing else.
    """

    policy: Policy
    tracker: Tracker
    world: World | LockstepWorld
    n_dialogs: int = 1_000
    seed: int = 0
    reward: RewardFunction | None = None


class Live:
    """The mean return of played dialogs; its component `completed` is the share of callers served."""

    name = LIVE
    needs = ("world",)
    resampled_over = CALLERS

    def estimate(self, problem: EvaluationProblem) -> Value:
        stage = problem.stage
        if stage is None:
            raise UsageError("there is no simulator for this corpus, so its policies cannot be played live")
        world = lockstep_form(stage.world)
        reward = Reward.of(world.domain) if stage.reward is None else stage.reward
        people, fill = (stage.n_dialogs, stage.seed), fill_of(reward)
        played = play(stage.policy, stage.tracker, *people, world, joint=False, fill=fill)
        return live_value(played, returns(played.corpus, reward(played.corpus, played.output)))


def live_value(played: Play, earned: Floats) -> Value:
    """The mean of what played dialogs earned (n_dialogs,), and as a component the share of callers served."""
    diagnostics = {name: float(outcome.mean()) for name, outcome in played.outcomes.items()}
    diagnostics["turns"] = played.corpus.n_turns / len(earned)
    value = mean_of_dialogs(LIVE, earned, diagnostics, CALLERS)
    served = played.completed.astype(float)
    return replace(value, components={COMPLETED: (served - served.mean()) / len(served)})


def completed_value(live: Value) -> Value:
    """The share of the callers of live play who reached their goal, from the value of that play."""
    return value_of(COMPLETED, live.diagnostics["success"], live.components[COMPLETED], {}, CALLERS)
