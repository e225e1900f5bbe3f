"""The logged policy, played live and in worlds fitted to the logs of a study: shared by all trackers."""

from __future__ import annotations

from dataclasses import dataclass

from extrinsic.corpus.model import Corpus
from extrinsic.policy.reward import Reward, returns
from extrinsic.registry import TRACKERS
from extrinsic.simulation.datasets import logged_policy
from extrinsic.simulation.fitted.fitted_world import FittedWorld, fit_world
from extrinsic.simulation.fitted.goodness_of_fit import GoodnessOfFit, goodness_of_fit
from extrinsic.simulation.play import play
from extrinsic.simulation.single_world import World
from extrinsic.simulation.world import LockstepWorld
from extrinsic.study.stages.inputs import Part, RecentlyMade, SimulatedDialogs, Unit, corpus_of
from extrinsic.trackers.track import track
from extrinsic.value.fitted_play import LoggedPlay, play_logged


@dataclass(frozen=True, eq=False)
class FittedLogs:
    """A world fitted to the training and the test dialogs of a dataset, and how well it fits."""

    world: FittedWorld
    logged: LoggedPlay
    fit: GoodnessOfFit


_FITTED: RecentlyMade[FittedLogs] = RecentlyMade(4)
"""As many as DSTC2 has conditions: all are fitted once for all trackers of a process."""


def fitted_logs(unit: Unit, part: Part, test: Corpus, n_dialogs: int, seed: int) -> FittedLogs:
    """The world of a dataset; where the dialogs are simulated, their own policy is played in it."""

    def make() -> FittedLogs:
        world = fit_world([corpus_of(unit.train), test])
        policy = tracker = None
        if isinstance(unit.test, SimulatedDialogs):
            policy, tracker = logged_policy(live_world(unit))
        logged = play_logged(world, n_dialogs, seed, policy, tracker)
        return FittedLogs(world, logged, _goodness(world, logged))

    return _FITTED.get(f"{unit.identity} {part.name} {n_dialogs} {seed}", make)


_LIVE: RecentlyMade[LoggedPlay | None] = RecentlyMade(2)


def expert_live(unit: Unit, n_dialogs: int, seed: int) -> LoggedPlay | None:
    """The logged policy on its own tracker with the callers of live play; None where it cannot be run.

    No tracker, reward or fill rule of a study changes these dialogs: they are played once for all of them, as
    the log was, and each tracker's beliefs about them are rewarded.
    """

    def make() -> LoggedPlay | None:
        world = live_world(unit)
        policy, tracker = logged_policy(world)
        if policy is None or tracker is None:
            return None
        return LoggedPlay(play(policy, tracker, n_dialogs, seed, world, joint=False))

    return _LIVE.get(f"{unit.identity} {n_dialogs} {seed}", make)


def live_world(unit: Unit) -> World | LockstepWorld:
    """The world that the test dialogs of a unit come from."""
    assert isinstance(unit.test, SimulatedDialogs)
    return unit.test.simulation.world(unit.test.dataset, unit.test.split)


def _goodness(world: FittedWorld, logged: LoggedPlay) -> GoodnessOfFit:
    """By the domain's reward and the beliefs of the tracker that stands for the system's own."""
    log, name = world.logs.corpora[-1], world.logs.tracker
    reward, tracker = Reward.of(log.domain), TRACKERS.get(name)
    observed = returns(log, reward(log, track(tracker, log, name)))
    return goodness_of_fit(world, logged.played, logged.returns(tracker, reward), observed)
