"""The true value, where there is a simulator: the policy played against callers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from extrinsic.errors import UsageError
from extrinsic.policy.reward import Reward, RewardFunction, returns
from extrinsic.simulation.play import play
from extrinsic.simulation.single_world import World
from extrinsic.simulation.world import LockstepWorld, Policy
from extrinsic.value.result import ResampledOver, Value, mean_of_dialogs

if TYPE_CHECKING:
    from extrinsic.corpus.tracking import Tracker
    from extrinsic.value.evaluation_problem import EvaluationProblem


@dataclass(frozen=True, eq=False)
class LivePlay:
    """Where and how a policy is played: the same `seed` gives the same callers for every policy."""

    policy: Policy
    tracker: Tracker
    world: World | LockstepWorld
    n_dialogs: int = 1_000
    seed: int = 0
    reward: RewardFunction | None = None


class Live:
    """The mean return of played dialogs."""

    name = "live"
    needs = ("world",)
    resampled_over: ResampledOver = "callers"

    def estimate(self, problem: EvaluationProblem) -> Value:
        stage = problem.stage
        if stage is None:
            raise UsageError("there is no simulator for this corpus, so its policies cannot be played live")
        played = play(stage.policy, stage.tracker, stage.n_dialogs, stage.seed, stage.world)
        reward = Reward.of(played.corpus.domain) if stage.reward is None else stage.reward
        earned = returns(played.corpus, reward(played.corpus, played.output))
        diagnostics = {name: float(outcome.mean()) for name, outcome in played.outcomes.items()}
        return mean_of_dialogs(self.name, earned, diagnostics, self.resampled_over)
