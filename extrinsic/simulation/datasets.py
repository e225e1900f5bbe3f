"""The corpora of a configuration: the expert at work on simulated callers."""

from __future__ import annotations

from extrinsic.simulation.chance import Chance
from extrinsic.simulation.expert import Expert, ExpertTracker
from extrinsic.simulation.play import Play, play
from extrinsic.simulation.world_settings import Simulation


def simulate(simulation: Simulation, dataset: str, split: str) -> Play:
    """The dialogs of one split; dialog i is the same however many there are and whatever else is made."""
    world = simulation.world(dataset, split)
    n_dialogs = simulation.dialogs[dataset][split]
    chance = Chance.of(n_dialogs, simulation.seed, dataset, split)
    return play(Expert(world.expert), ExpertTracker(), n_dialogs, chance, world, dataset=f"{dataset}_{split}")
