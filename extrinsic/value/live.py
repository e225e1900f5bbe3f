"""The true value, where there is a simulator: the policy played against callers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from extrinsic.arrays import Floats, is_among
from extrinsic.errors import UsageError
from extrinsic.policy.features import find_features
from extrinsic.policy.learner import LivePolicy
from extrinsic.policy.rewards import Reward, RewardFunction, fill_of, returns
from extrinsic.simulation.play import Play, callers, play, require_chances
from extrinsic.simulation.single_world import lockstep_form
from extrinsic.simulation.world import Moment, Policy
from extrinsic.value.estimator import EvaluationProblem, LivePlay, Need
from extrinsic.value.value import ResampledOver, Value, mean_of_dialogs, value_of

LIVE, COMPLETED = "live", "completed"
"""The return of live play; and in place of an estimator, the share of its callers who reached their goal."""

CALLERS: ResampledOver = "callers"


class Live:
    """The mean return of played dialogs; its component `completed` is the share of callers served."""

    name = LIVE
    needs: tuple[Need, ...] = ("world",)
    resampled_over = CALLERS

    def estimate(self, problem: EvaluationProblem) -> Value:
        stage = problem.stage
        if stage is None:
            raise UsageError("there is no simulator for this corpus, so its policies cannot be played live")
        return played_together([stage])[0]


def played_together(plays: Sequence[LivePlay]) -> list[Value]:
    """The live value of each: one world, the same callers; trackers, policies and rewards of their own.

    What a turn costs depends little on the number of dialogs, so all are played at once; each is what it
    would be alone, to the last bit. Plays of one tracker stand next to each other.
    """
    first = plays[0]
    world, n_dialogs = lockstep_form(first.world), first.n_dialogs
    trackers = [stage.tracker for stage in plays]
    rewards = [stage.reward or Reward.of(world.domain) for stage in plays]
    chance = callers(n_dialogs, first.seed).repeated(len(plays))
    together = _SideBySide(tuple(stage.policy for stage in plays), n_dialogs)
    policy = first.policy if len(plays) == 1 else together
    fills = [fill_of(reward) for reward in rewards]
    played = play(policy, trackers, len(chance.key), chance, world, joint=False, fill=fills)
    values, earned = [], list[tuple[RewardFunction, Floats]]()
    for number, reward in enumerate(rewards):
        of_reward = next((numbers for other, numbers in earned if other == reward), None)
        if of_reward is None:
            of_reward = returns(played.corpus, reward(played.corpus, played.output))
            earned.append((reward, of_reward))
        values.append(live_value(played, of_reward, number * n_dialogs, n_dialogs))
    return values


@dataclass(frozen=True)
class _SideBySide:
    """Several policies as one: the first decides in dialogs 0 to n - 1, the next in the n after them, ..."""

    policies: tuple[Policy, ...]
    n_dialogs: int

    def probabilities(self, moment: Moment) -> Floats:
        chances, part = np.empty(moment.allowed.shape), moment.dialogs // self.n_dialogs
        for alike in self.groups:
            some = np.flatnonzero(is_among(part, alike))
            if not len(some):
                continue
            own, first = moment.take(some), self.policies[alike[0]]
            states = first.states(own) if isinstance(first, LivePolicy) else None
            for number in alike:
                policy, rows = self.policies[number], np.flatnonzero(part[some] == number)
                if not len(rows):
                    continue
                if states is not None and isinstance(policy, LivePolicy):
                    chosen = policy.policy.probabilities(states.take(rows), own.allowed[rows])
                else:
                    chosen = policy.probabilities(replace(own, dialogs=own.dialogs - number * self.n_dialogs))
                chances[some[rows]] = require_chances(chosen, own.allowed[rows])
        return chances

    @cached_property
    def groups(self) -> list[list[int]]:
        """The numbers of policies that see the same states, which are made once; others stand alone."""
        groups: dict[object, list[int]] = {}
        for number, policy in enumerate(self.policies):
            seen = find_features(policy.features) if isinstance(policy, LivePolicy) else number
            groups.setdefault(seen, []).append(number)
        return list(groups.values())


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


ESTIMATOR = Live()
