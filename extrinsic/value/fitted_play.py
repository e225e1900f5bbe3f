"""Playing policies in a world fitted to the logs, beside the logged policy or a clone of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.tracker_output import TrackerOutput, build_output
from extrinsic.corpus.tracking import Tracker
from extrinsic.policy.reward import RewardFunction, fill_of, returns
from extrinsic.simulation.fitted.fitted_world import FittedWorld
from extrinsic.simulation.play import Play, play
from extrinsic.simulation.world import Moment, Policy
from extrinsic.trackers.track import hypotheses_of
from extrinsic.value.cloned_system import clone_system

CLONE_ERROR = 4.0
"""By how much the value of a policy on the clone of a tracker differed from that on the tracker itself, in
logs of seeds below 100."""

CLONED_LEVEL_ERROR = 4.0
"""The standard error of the clone's return. Less the logged policy's in the same world it had a root mean
square of 3.1 and a mean of -1.0 on 12 logs of seeds 11, 12 and 21, eight of the bus world and four of
restaurants; a real system's tracker is only guessed, for which a little is added."""


@dataclass(frozen=True, eq=False)
class PermittedPolicy:
    """A policy that comes from elsewhere, kept to what is possible in the world it is played in."""

    policy: Policy

    def probabilities(self, moment: Moment) -> Floats:
        chances = np.where(moment.allowed, self.policy.probabilities(moment), 0.0)
        lost = chances.sum(axis=1) <= 0.0
        chances[lost] = moment.allowed[lost]
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class LoggedPlay:
    """Dialogs of the logged policy, in a fitted world or with the callers of live play.

    is_clone: it could not be run, and a model of its decisions stands for it.
    """

    played: Play
    is_clone: bool = False
    _recent: list[tuple[Tracker, TrackerOutput]] = field(default_factory=list, repr=False)

    @property
    def level_error(self) -> float:
        """The standard error, in points of return, of a level that a clone sets."""
        return CLONED_LEVEL_ERROR if self.is_clone else 0.0

    def returns(self, tracker: Tracker, reward: RewardFunction) -> Floats:
        """(n_dialogs,) what they earn by the beliefs of another tracker."""
        dialogs = self.played.corpus
        return returns(dialogs, reward(dialogs, self._output(tracker)))

    def _output(self, tracker: Tracker) -> TrackerOutput:
        """The beliefs of the tracker: policies and rewards of one tracker come one after the other."""
        if not self._recent or self._recent[0][0] is not tracker:
            dialogs = self.played.corpus
            hypotheses = hypotheses_of([(tracker, np.arange(dialogs.n_dialogs))], dialogs)
            # Rewards need no joint hypotheses, and making them costs more than all the rest.
            output, _ = build_output(dialogs, "logged", hypotheses)
            self._recent[:] = [(tracker, output)]
        return self._recent[0][1]


@dataclass(frozen=True, eq=False)
class FittedPlay:
    """Where and how a policy is played instead of live.

    world: fitted to the logs, the last of them the one that policies are valued on.
    logged: the logged policy's dialogs there.   seed: the same one gives every policy the same callers.
    tracker_error: the standard error, in points of return, of a tracker that is itself a clone.
    flags: reasons to doubt what is played.
    """

    world: FittedWorld
    logged: LoggedPlay
    policy: Policy
    tracker: Tracker
    reward: RewardFunction
    seed: int = 0
    tracker_error: float = 0.0
    flags: tuple[str, ...] = ()

    @property
    def n_dialogs(self) -> int:
        return self.logged.played.corpus.n_dialogs

    def returns(self) -> Floats:
        """(n_dialogs,) what the policy earns."""
        policy = PermittedPolicy(self.policy)
        fill = fill_of(self.reward)
        played = play(policy, self.tracker, self.n_dialogs, self.seed, self.world, joint=False, fill=fill)
        return returns(played.corpus, self.reward(played.corpus, played.output))

    def by_caller(self, earned: Floats) -> Floats:
        """(n_callers,) the mean of what was earned with each caller of the logs."""
        n_callers = len(self.world.logs.callers.error)
        caller: Ints = np.arange(len(earned)) % n_callers
        return np.asarray(np.bincount(caller, earned) / np.bincount(caller))


def play_logged(
    world: FittedWorld,
    n_dialogs: int,
    seed: int,
    policy: Policy | None = None,
    tracker: Tracker | None = None,
) -> LoggedPlay:
    """Play the logged policy on its own tracker in a fitted world; without them, clones of both.

    n_dialogs: or more, so that every caller of the logs is met at least once.
    """
    is_clone = policy is None or tracker is None
    if policy is None or tracker is None:
        clone = clone_system(world)
        world, policy, tracker = clone.world, clone.policy, clone.tracker
    n_met = max(n_dialogs, len(world.logs.callers.error))
    played = play(PermittedPolicy(policy), tracker, n_met, seed, world, joint=False)
    return LoggedPlay(played, is_clone)
