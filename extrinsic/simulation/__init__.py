"""The embedded world: callers who want a bus, a recogniser, an expert, corpora of their calls, live play."""

from extrinsic.simulation.datasets import simulate
from extrinsic.simulation.expert import Expert, ExpertTracker
from extrinsic.simulation.live import CUT_OFF, GOODBYE, HANG_UP, Play, play
from extrinsic.simulation.settings import Simulation, WorldSettings, read_simulation
from extrinsic.simulation.statistics import Statistics, describe
from extrinsic.simulation.system import Moment, Policy

__all__ = [
    "CUT_OFF", "GOODBYE", "HANG_UP", "Expert", "ExpertTracker", "Moment", "Play", "Policy", "Simulation",
    "Statistics", "WorldSettings", "describe", "play", "read_simulation", "simulate",
]  # fmt: skip
