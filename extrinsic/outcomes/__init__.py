"""Outcomes of dialogs: computed by evaluators, from states and responses, or read from tables of users.

An evaluator is a frozen config whose fields are its options in a study, and what it prepares.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from extrinsic.arrays import Floats
from extrinsic.corpus.state_sets import StateReading
from extrinsic.registry import EVALUATORS


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


EVALUATORS.register(
    "multiwoz",
    "extrinsic.outcomes.multiwoz_evaluator:MultiWOZ",
    "inform and success of states x responses x goals x database, as MultiWOZ_Evaluation computes them",
)
