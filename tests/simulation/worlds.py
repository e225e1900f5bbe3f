"""Worlds for tests: the defaults with some settings changed, and the expert at play in them."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from extrinsic.arrays import Ints
from extrinsic.corpus.model import Corpus
from extrinsic.simulation import Expert, ExpertTracker, Play, WorldSettings, play
from extrinsic.simulation.bus.bus_ontology import bus_ontology
from extrinsic.simulation.ontology import Values
from tests.contents import acts_content, rows

BUS: Values = bus_ontology()
GROUPS = list(BUS.domain.groups)
PREDICATES = BUS.domain.predicate_names

QUIET: dict[str, Any] = {"noise": 0.0}
"""A perfect recogniser."""

PATIENT: dict[str, Any] = {"patience": float("inf")}


def world(
    recogniser: dict[str, Any] | None = None,
    caller: dict[str, Any] | None = None,
    expert: dict[str, Any] | None = None,
    **others: Any,
) -> WorldSettings:
    tables = {"recogniser": recogniser or {}, "caller": caller or {}, "expert": expert or {}, **others}
    return msgspec.convert(tables, WorldSettings)


NOISY = world(caller={"starts_over": 0.05}, no_connection=0.05)


def expert_play(in_world: WorldSettings, n_dialogs: int = 300, rng: int = 1) -> Play:
    return play(Expert(in_world.expert), ExpertTracker(), n_dialogs, rng, in_world)


def acts_of_turns(corpus: Corpus) -> list[list[tuple[str, list[tuple[str, Any]]]]]:
    return acts_content(corpus.system, corpus.vocabulary)


def lists_of_turns(corpus: Corpus) -> list[list[tuple[float, bool, list[Any]]]]:
    nbest = corpus.nbest
    return rows(nbest.offsets, nbest.score, nbest.batch, acts_content(nbest.acts, corpus.vocabulary))


def group_column(name: str) -> int:
    return GROUPS.index(name)


def slot_values(slot: str) -> Ints:
    """The numbers of the values of a slot."""
    column = BUS.domain.slot_names.index(slot)
    return np.arange(BUS.begin[column], BUS.begin[column + 1])
