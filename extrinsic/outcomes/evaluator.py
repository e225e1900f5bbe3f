"""The protocol of evaluators: a config whose fields are its options, and what it prepares."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from extrinsic.arrays import Floats
from extrinsic.corpus.state_sets import StateReading


class PreparedEvaluator(Protocol):
    """An evaluator with its files read."""

    @property
    def generators(self) -> tuple[str, ...]:
        """The names of those who wrote the responses: a second sample beside the systems."""

    @property
    def signature(self) -> str:
        """A hash of all that decides an outcome besides the states."""

    def check(self, path: str, turns: Mapping[str, int]) -> None:
        """Raise InputError where dialogs cannot be evaluated; turns: how many each has in the file."""

    def evaluate(
        self, path: str, format: str, reading: StateReading, name: str, dialogs: Sequence[str]
    ) -> Floats:
        """(n_outcomes, n_generators, n_dialogs) of the states in a file; every problem of it is raised."""


class Evaluator(Protocol):
    """A frozen config, registered in EVALUATORS; `outcomes`: what it computes, higher is better."""

    outcomes: tuple[str, ...]
    paths: tuple[str, ...]
    """The options that are files or folders, or lists of them."""

    def prepare(self) -> PreparedEvaluator:
        """Read the files; every problem with them is raised."""
