"""The protocol of a simulation: simulated corpora, and the worlds in which policies are played live."""

from __future__ import annotations

from typing import Any, Protocol

from extrinsic.simulation.play import Play
from extrinsic.simulation.world import World


class Simulation(Protocol):
    """Datasets of one kind of world, each with its splits. `WORLDS` registers the class.

    Processes receive the kind's name, the configuration and the seed, and read it again: `read` has to be
    cheap, and everything must depend only on its arguments.
    """

    @property
    def seed(self) -> int: ...

    @staticmethod
    def read(config: str | None = None, seed: int | None = None) -> Simulation:
        """Read a file (by default the kind's own); `seed` overrides the file's seed."""
        ...

    def corpora(self) -> list[tuple[str, str]]:
        """Every (dataset, split)."""
        ...

    def require(self, dataset: str, split: str) -> None:
        """Raise UsageError unless the dataset has that split."""
        ...

    def world(self, dataset: str, split: str) -> World:
        """The world that the split's dialogs come from."""
        ...

    def simulate(self, dataset: str, split: str) -> Play:
        """The dialogs of a split, conducted by the world's own expert."""
        ...

    def identity(self, dataset: str, split: str) -> str:
        """A hash of everything that determines the dialogs of a split."""
        ...

    def plain(self) -> Any:
        """The settings as JSON values."""
        ...


def simulate(simulation: Simulation, dataset: str, split: str) -> Play:
    """The dialogs of one split of a simulation."""
    return simulation.simulate(dataset, split)
