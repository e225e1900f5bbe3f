"""Simulated worlds: live play in any of them, and the two embedded ones."""

from extrinsic.registry import WORLDS
from extrinsic.simulation.bus_expert import Expert, ExpertTracker
from extrinsic.simulation.bus_world import BusSimulation, WorldSettings, read_simulation
from extrinsic.simulation.datasets import Simulation, Statistics, describe, find_simulation, simulate
from extrinsic.simulation.play import Play, play
from extrinsic.simulation.session import Session
from extrinsic.simulation.single_world import Turn, World
from extrinsic.simulation.tracked_dialogs import BeliefState
from extrinsic.simulation.world import (
    CUT_OFF,
    GOES_ON,
    GOODBYE,
    HANG_UP,
    Dialogs,
    Exchange,
    LockstepWorld,
    Moment,
    Policy,
    View,
)

WORLDS.register(
    "bus",
    "extrinsic.simulation.bus_world:BusSimulation",
    "callers who want a bus, a recogniser and an expert: ds1 to ds4 in the manner of Lee 2014, letsgo and "
    "cambridge in that of real calls",
)

WORLDS.register(
    "restaurants",
    "extrinsic.simulation.restaurant_world:RestaurantSimulation",
    "callers who look for a restaurant in the terms of DSTC2, a recogniser and an expert: quiet and noisy",
)

__all__ = [
    "CUT_OFF",
    "GOES_ON",
    "GOODBYE",
    "HANG_UP",
    "BeliefState",
    "BusSimulation",
    "Dialogs",
    "Exchange",
    "Expert",
    "ExpertTracker",
    "LockstepWorld",
    "Moment",
    "Play",
    "Policy",
    "Session",
    "Simulation",
    "Statistics",
    "Turn",
    "View",
    "World",
    "WorldSettings",
    "describe",
    "find_simulation",
    "play",
    "read_simulation",
    "simulate",
]
