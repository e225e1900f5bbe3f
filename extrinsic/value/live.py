"""The true value, where there is a simulator: the policy played against callers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.errors import UsageError
from extrinsic.policy.reward import Reward, RewardFunction, fill_of, returns
from extrinsic.simulation.decisions import require_chances
from extrinsic.simulation.play import Play, callers, play
from extrinsic.simulation.single_world import World, lockstep_form
from extrinsic.simulation.world import LockstepWorld, Moment, Policy
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
        return played_together(stage, [stage.policy])[0]


def played_together(stage: LivePlay, policies: Sequence[Policy]) -> list[Value]:
    """The live value of each policy: all are played at once, each against the same callers.

    What a turn costs hardly depends on the number of dialogs, so this takes little longer than playing one.
    """
    world, n_dialogs = lockstep_form(stage.world), stage.n_dialogs
    reward = Reward.of(world.domain) if stage.reward is None else stage.reward
    chance = callers(n_dialogs, stage.seed).repeated(len(policies))
    together = policies[0] if len(policies) == 1 else _SideBySide(tuple(policies), n_dialogs)
    fill = fill_of(reward)
    played = play(together, stage.tracker, len(chance.key), chance, world, joint=False, fill=fill)
    earned = returns(played.corpus, reward(played.corpus, played.output))
    return [live_value(played, earned, number * n_dialogs, n_dialogs) for number in range(len(policies))]


@dataclass(frozen=True)
class _SideBySide:
    """Several policies as one: the first decides in dialogs 0 to n - 1, the next in the n after them, ..."""

    policies: tuple[Policy, ...]
    n_dialogs: int

    def probabilities(self, moment: Moment) -> Floats:
        chances = np.empty(moment.allowed.shape)
        for number, policy in enumerate(self.policies):
            rows = np.flatnonzero(moment.dialogs // self.n_dialogs == number)
            if len(rows):
                own = moment.take(rows)
                own = replace(own, dialogs=own.dialogs - number * self.n_dialogs)
                chances[rows] = require_chances(policy.probabilities(own), own.allowed)
        return chances


def live_value(played: Play, earned: Floats, first: int = 0, n_dialogs: int | None = None) -> Value:
    """The mean of what played dialogs earned (n,), and as a component the share of callers served.

    first, n_dialogs: of these dialogs alone; all, if not said.
    """
    end = len(earned) if n_dialogs is None else first + n_dialogs
    diagnostics = {name: float(outcome[first:end].mean()) for name, outcome in played.outcomes.items()}
    n_turns = int(played.corpus.offsets[end] - played.corpus.offsets[first])
    diagnostics["turns"] = n_turns / (end - first)
    value = mean_of_dialogs(LIVE, earned[first:end], diagnostics, CALLERS)
    served = played.completed[first:end].astype(float)
    return replace(value, components={COMPLETED: (served - served.mean()) / len(served)})


def completed_value(live: Value) -> Value:
    """The share of the callers of live play who reached their goal, from the value of that play."""
    return value_of(COMPLETED, live.diagnostics["success"], live.components[COMPLETED], {}, CALLERS)
