"""The embedded world: callers who want a bus, a recogniser, an expert, corpora of their calls, live play."""

from extrinsic.simulation.datasets import simulate
from extrinsic.simulation.expert import Expert, ExpertTracker
from extrinsic.simulation.play import CUT_OFF, GOODBYE, HANG_UP, Play, play
from extrinsic.simulation.statistics import Statistics, describe
from extrinsic.simulation.system import Moment, Policy
from extrinsic.simulation.world_settings import Simulation, WorldSettings, read_simulation

__all__ = [
    "CUT_OFF",
    "GOODBYE",
    "HANG_UP",
    "Expert",
    "ExpertTracker",
    "Moment",
    "Play",
    "Policy",
    "Simulation",
    "Statistics",
    "WorldSettings",
    "describe",
    "play",
    "read_simulation",
    "simulate",
]
