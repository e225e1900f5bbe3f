"""Worlds for tests: the bus world with some settings changed, its expert at play, and what a call has."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import Floats, Ints
from extrinsic.corpus.corpus import Corpus
from extrinsic.plugins import load_plugins
from extrinsic.policy.features import Features, States
from extrinsic.policy.observations import observations_of_view
from extrinsic.registry import WORLDS
from extrinsic.simulation import (
    Expert,
    ExpertTracker,
    Moment,
    Play,
    Policy,
    WorldSettings,
    find_simulation,
    play,
)
from extrinsic.simulation.bus_values import bus_ontology
from extrinsic.simulation.values import Values
from tests.contents import acts_content, hypotheses_content, rows

BUS: Values = bus_ontology()
GROUPS = list(BUS.domain.groups)
PREDICATES = BUS.domain.predicate_names

QUIET: dict[str, Any] = {"noise": 0.0}
"""A perfect recogniser."""

PATIENT: dict[str, Any] = {"patience": float("inf")}

CERTAIN: dict[str, Any] = {"main": 1.0, "exploration": 0.0}
"""An expert that always follows its rules."""


def world(
    recogniser: dict[str, Any] | None = None,
    caller: dict[str, Any] | None = None,
    expert: dict[str, Any] | None = None,
    **others: Any,
) -> WorldSettings:
    tables = {"recogniser": recogniser or {}, "caller": caller or {}, "expert": expert or {}, **others}
    return msgspec.convert(tables, WorldSettings)


NOISY = world(caller={"starts_over": 0.05}, no_connection=0.05)


TOY = Path(__file__).parents[2] / "docs" / "toy_world.py"


def load_toy() -> None:
    """Register the toy of the guide, `colours`, also where its file was imported for other tests before."""
    if "colours" not in WORLDS.names():
        for name in [
            name for name, module in sys.modules.items() if vars(module).get("__file__") == str(TOY)
        ]:
            del sys.modules[name]
        load_plugins([str(TOY)])


class Allowed:
    """Anything that is possible; the larger the power, the rather the later predicates."""

    def __init__(self, power: float = 0.0) -> None:
        self.power = power

    def probabilities(self, moment: Moment) -> Floats:
        weight = moment.allowed * np.arange(1.0, 1.0 + moment.allowed.shape[1]) ** self.power
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))


class Always:
    """One predicate, whatever was said."""

    def __init__(self, name: str) -> None:
        self.name = name

    def probabilities(self, moment: Moment) -> Floats:
        names = moment.domain.predicate_names
        return np.tile(np.eye(len(names))[names.index(self.name)], (len(moment.dialogs), 1))


class Anything:
    """Anything that can be done, but for leaving, and beginning anew when asked to."""

    def probabilities(self, moment: Moment) -> Floats:
        can = moment.allowed.astype(float)
        can[:, PREDICATES.index("goodbye")] = 0.05
        can[moment.allowed[:, PREDICATES.index("restart")], PREDICATES.index("restart")] = 20.0
        return np.asarray(can / can.sum(axis=1, keepdims=True))


class Witness:
    """Writes down the states that a policy sees: dialogs (m,), turns so far (m,), states."""

    def __init__(self, policy: Policy, features: Features) -> None:
        self.policy, self.features = policy, features
        self.seen: list[tuple[Ints, Ints, States]] = []
        self.chances: list[Floats] = []

    def probabilities(self, moment: Moment) -> Floats:
        states = self.features(observations_of_view(moment))
        self.seen.append((moment.dialogs.copy(), moment.history.turn.copy(), states))
        self.chances.append(self.policy.probabilities(moment))
        assert not self.chances[-1][~moment.allowed].any()
        return self.chances[-1]


def expert_play(in_world: WorldSettings, n_dialogs: int = 300, rng: int = 1) -> Play:
    return play(Expert(in_world.expert, in_world.system), ExpertTracker(), n_dialogs, rng, in_world)


@cache
def diners() -> Corpus:
    """Calls whose log says what was possible, and how they ended."""
    return find_simulation("restaurants").simulate("quiet", "test").corpus.take(list(range(60)))


def acts_of_turns(corpus: Corpus) -> list[list[tuple[str, list[tuple[str, Any]]]]]:
    return acts_content(corpus.system, corpus.vocabulary)


def lists_of_turns(corpus: Corpus) -> list[list[tuple[float, bool, list[Any]]]]:
    nbest = corpus.nbest
    return rows(nbest.offsets, nbest.score, nbest.batch, acts_content(nbest.acts, corpus.vocabulary))


def first_lists(played: Play) -> list[Any]:
    """What was understood in answer to the greeting, which is the same whatever comes later."""
    lists = lists_of_turns(played.corpus)
    return [lists[turn] for turn in played.corpus.offsets[:-1]]


def dialogs_of(played: Play) -> list[dict[str, Any]]:
    """Everything about each dialog, but its session id."""
    corpus, n_slots = played.corpus, len(played.corpus.slots)
    assert corpus.propensities is not None and corpus.possible is not None
    beliefs = hypotheses_content(played.output.given, corpus.vocabulary)
    acts, lists = acts_of_turns(corpus), lists_of_turns(corpus)
    dialogs = []
    for dialog in range(corpus.n_dialogs):
        begin, end = corpus.offsets[dialog : dialog + 2]
        labels = vars(corpus.labels.take(np.arange(begin, end))).values()
        dialogs.append(
            {
                "system": acts[begin:end],
                "nbest": lists[begin:end],
                "beliefs": beliefs[begin * n_slots : end * n_slots],
                "propensities": corpus.propensities[begin:end].tobytes(),
                "restart": corpus.restart[begin:end].tolist(),
                "possible": corpus.possible[begin:end].tobytes(),
                "labels": [column.tolist() for column in labels if isinstance(column, np.ndarray)],
                "end": (int(played.ending[dialog]), bool(played.completed[dialog])),
            }
        )
    return dialogs


def group_column(name: str) -> int:
    return GROUPS.index(name)


def slot_values(slot: str) -> Ints:
    """The numbers of the values of a slot."""
    column = BUS.domain.slot_names.index(slot)
    return np.arange(BUS.begin[column], BUS.begin[column + 1])
