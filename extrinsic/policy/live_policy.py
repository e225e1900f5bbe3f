"""Policies learned from a corpus, at the table of live play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from extrinsic.arrays import Bools, Floats
from extrinsic.policy.features import Features, find_features
from extrinsic.policy.observations import observations_of_moment
from extrinsic.policy.states import States
from extrinsic.simulation.bus_ontology import bus_ontology
from extrinsic.simulation.system import Moment


class StatePolicy(Protocol):
    """Decides by states."""

    def probabilities(self, states: States, possible: Bools | None = None) -> Floats:
        """(n, n_actions)"""
        ...


@dataclass(frozen=True, eq=False)
class LivePolicy:
    """A policy of states as one of moments: what is seen at the table becomes a state first."""

    features: Features | str | Sequence[str]
    policy: StatePolicy

    def probabilities(self, moment: Moment) -> Floats:
        states = find_features(self.features)(observations_of_moment(moment, bus_ontology().vocabulary))
        return self.policy.probabilities(states, moment.allowed)
