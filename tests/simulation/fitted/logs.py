"""A small log of the bus world, the world fitted to it, and policies that play there."""

from __future__ import annotations

from functools import cache

import numpy as np

from extrinsic.arrays import Floats
from extrinsic.corpus.model import Corpus
from extrinsic.simulation import BusSimulation, ExpertTracker, Moment, Play, Policy, play
from extrinsic.simulation.fitted.fitted_world import FittedWorld, fit_world

SEED = 7


@cache
def bus_logs() -> tuple[Corpus, Corpus]:
    simulation = BusSimulation.read(seed=SEED)
    train, test = (simulation.simulate("ds1", split).corpus for split in ("train", "test"))
    return train, test


@cache
def bus_world() -> FittedWorld:
    return fit_world(bus_logs())


class Masked:
    """A policy that only does what is allowed."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def probabilities(self, moment: Moment) -> Floats:
        chances = np.where(moment.allowed, self.policy.probabilities(moment), 0.0)
        nothing = chances.sum(axis=1) == 0.0
        chances[nothing] = moment.allowed[nothing]
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))


class Rotating:
    """Does all that is allowed in turn, whatever the beliefs."""

    def probabilities(self, moment: Moment) -> Floats:
        count = moment.allowed.sum(axis=1)
        place = (moment.dialogs + moment.history.turn) % count
        chosen = (np.cumsum(moment.allowed, axis=1) == place[:, None] + 1) & moment.allowed
        return chosen.astype(np.float64)


@cache
def expert_calls(n_dialogs: int = 1500) -> Play:
    """The logged policy itself, played in the fitted world."""
    expert = BusSimulation.read(seed=SEED).world("ds1", "test").policy()
    return play(Masked(expert), ExpertTracker(), n_dialogs, 0, bus_world(), joint=False)


def rotating_calls(n_dialogs: int, seed: int = 0, world: FittedWorld | None = None) -> Play:
    return play(Rotating(), ExpertTracker(), n_dialogs, seed, world or bus_world(), joint=False)
