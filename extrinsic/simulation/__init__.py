"""Simulated worlds: live play in any of them, and the embedded bus world."""

from extrinsic.registry import WORLDS
from extrinsic.simulation.bus.expert import Expert, ExpertTracker
from extrinsic.simulation.bus.world_settings import BusSimulation, WorldSettings, read_simulation
from extrinsic.simulation.datasets import Simulation, simulate
from extrinsic.simulation.play import Play, play
from extrinsic.simulation.statistics import Statistics, describe
from extrinsic.simulation.world import (
    CUT_OFF,
    GOES_ON,
    GOODBYE,
    HANG_UP,
    Dialogs,
    Exchange,
    Moment,
    Policy,
    View,
    World,
)

WORLDS.register(
    "bus",
    "extrinsic.simulation.bus.world_settings:BusSimulation",
    "callers who want a bus, a recogniser and an expert: ds1 to ds4 in the manner of Lee 2014, letsgo and "
    "cambridge in that of real calls",
)

__all__ = [
    "CUT_OFF",
    "GOES_ON",
    "GOODBYE",
    "HANG_UP",
    "BusSimulation",
    "Dialogs",
    "Exchange",
    "Expert",
    "ExpertTracker",
    "Moment",
    "Play",
    "Policy",
    "Simulation",
    "Statistics",
    "View",
    "World",
    "WorldSettings",
    "describe",
    "play",
    "read_simulation",
    "simulate",
]
